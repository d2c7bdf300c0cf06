// Forms and texts of the account pages. Everything is text: no page builds HTML from a string.
import { ApiError } from "./api.js";

const page = document.getElementById("page");

/** Creates an element with properties and children (elements or text). */
export function create(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Shows a page with a title. */
export function show(title, ...children) {
  document.title = `${title} – Offcut`;
  page.replaceChildren(create("h1", {}, title), ...children.filter((child) => child !== null));
  page.removeAttribute("aria-busy");
  page.querySelector("input")?.focus();
}

export const paragraph = (...children) => create("p", {}, ...children);
export const link = (href, text) => create("a", { href }, text);

/** A labeled input. `hint` is shown below it. */
export function field(label, properties, hint = null) {
  const input = create("input", { required: true, ...properties });
  const note = hint && create("p", { className: "hint", id: `${properties.name}-hint` }, hint);
  if (note) input.setAttribute("aria-describedby", note.id);
  return create("label", {}, create("span", {}, label), input, note);
}

export const emailField = () =>
  field("Email address", { name: "email", type: "email", autocomplete: "username", maxLength: 254, spellcheck: false });

export const newPasswordField = () =>
  field(
    "New password",
    { name: "password", type: "password", autocomplete: "new-password", minLength: 10, maxLength: 200 },
    "At least 10 characters.",
  );

/** A form. `send` gets the values by name; what it throws is shown above the button. */
export function form(fields, buttonText, send) {
  const error = create("p", { className: "error", role: "alert" });
  const button = create("button", { type: "submit" }, buttonText);
  const element = create("form", { noValidate: false }, ...fields, error, button);
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    error.textContent = "";
    for (const input of element.elements) input.removeAttribute("aria-invalid");
    try {
      await send(Object.fromEntries(new FormData(element)));
    } catch (thrown) {
      const known = thrown instanceof ApiError ? thrown : new ApiError("Something went wrong. Try again.", "", []);
      error.textContent = known.message;
      const wrong = known.fields.map((name) => element.elements.namedItem(name)).filter(Boolean);
      for (const input of wrong) input.setAttribute("aria-invalid", "true");
      wrong[0]?.focus();
    } finally {
      button.disabled = false;
    }
  });
  return element;
}
