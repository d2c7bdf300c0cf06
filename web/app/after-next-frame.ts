/** Runs something after the next frame is drawn; at once while the page is hidden, which draws none. */
export function afterNextFrame(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => setTimeout(run));
}
