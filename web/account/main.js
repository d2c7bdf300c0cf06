// Shows the account page of this path.
import { ApiError } from "./api.js";
import { paragraph, show } from "./form.js";
import { PAGES } from "./pages.js";

try {
  await PAGES[location.pathname]();
} catch (error) {
  show("Offcut", paragraph(error instanceof ApiError ? error.message : "Something went wrong. Reload the page."));
}
