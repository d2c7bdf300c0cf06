/**
 * Copies the text of a field or of another element, and returns a message for the user. Over plain HTTP, browsers have
 * no clipboard API, but they still copy the selection.
 */
export async function copyText(element: HTMLElement): Promise<string> {
  return (await copy(element)) ? "Copied." : "The browser does not allow copying: press Ctrl+C or ⌘C.";
}

async function copy(element: HTMLElement): Promise<boolean> {
  const text = select(element);
  if (window.isSecureContext) {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) return true;
  }
  return document.execCommand("copy");
}

/** Selects the text of an element and returns it. */
function select(element: HTMLElement): string {
  element.focus();
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    element.select();
    return element.value;
  }
  getSelection()?.selectAllChildren(element);
  return element.textContent;
}
