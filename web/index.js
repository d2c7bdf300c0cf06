// The front page: shows which parts of the server are ready.
const response = await fetch("/readyz");
const state = await response.json();
for (const part of ["database", "storage", "ffmpeg"]) {
  const shown = document.getElementById(part);
  shown.textContent = state[part] ? "ready" : "not ready";
  shown.className = state[part] ? "good" : "bad";
}
