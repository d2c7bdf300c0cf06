/** Pages of administration. */
import type { FunctionComponent } from "preact";
import NotFoundPage from "../pages/not-found";
import { lazyPage } from "./lazy-page";
import { isAdmin } from "./session";

/** Returns a page that is loaded when an administrator first opens it. Other users see "Page not found". */
export function adminPage(load: Parameters<typeof lazyPage>[0]): FunctionComponent {
  const Page = lazyPage(load);
  return () => (isAdmin.value ? <Page /> : <NotFoundPage />);
}
