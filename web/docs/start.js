/**
 * Runs before the pages of the documentation are shown: the theme that was chosen in the dashboard, else that of the system. Then it opens the
 * contents where there is room beside the text, and starts Swagger UI when the reference comes into view: it takes seconds.
 */
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

function readChosenTheme() {
  try {
    return localStorage.getItem("offcut.theme");
  } catch {
    return null;
  }
}

function applyTheme() {
  const chosen = readChosenTheme();
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  root.dataset.theme = isDark ? "dark" : "light";
  // What the style sheet of Swagger UI looks for.
  root.classList.toggle("dark-mode", isDark);
}

applyTheme();
system.addEventListener("change", applyTheme);
addEventListener("storage", applyTheme);

addEventListener("DOMContentLoaded", () => {
  const contents = document.getElementById("contents");
  const isWide = matchMedia("(min-width: 64rem)");
  const openContents = () => {
    contents.open = isWide.matches;
  };
  openContents();
  isWide.addEventListener("change", openContents);

  // On a phone the navigation scrolls.
  document.querySelector(".bar [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });

  const reference = document.getElementById("swagger-ui");
  if (reference === null) return;
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    const script = document.createElement("script");
    script.src = reference.dataset.script;
    script.addEventListener("load", () => startReference(reference));
    document.head.append(script);
  });
  observer.observe(reference);
});

function startReference(reference) {
  reference.textContent = "";
  window.SwaggerUIBundle({
    url: reference.dataset.url,
    domNode: reference,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    // By default, Swagger UI sends the URL of the document to a validator on the internet.
    validatorUrl: "none",
  });
}
