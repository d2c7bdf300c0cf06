// The front page: which parts of the server work.
const answer = await fetch("/readyz");
const state = await answer.json();
for (const part of ["database", "storage", "ffmpeg"]) {
  const shown = document.getElementById(part);
  shown.textContent = state[part] ? "ready" : "not ready";
  shown.className = state[part] ? "good" : "bad";
}
