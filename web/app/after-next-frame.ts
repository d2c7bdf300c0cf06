/** Runs a function after the next frame, or immediately while the page is hidden and draws no frames. */
export function afterNextFrame(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => setTimeout(run));
}
