/** Starts the dashboard. */
import { render } from "preact";
import { watchOtherDrops } from "../upload/dropped-files";
import { App, preload } from "./app";
import { watchConnection } from "./connection";
import { wasSignedIn, watchAccount } from "./load-session";
import { startCache } from "./query-client";
import { applyTheme } from "./theme";

applyTheme();
watchOtherDrops();
preload(location.pathname, wasSignedIn());
watchConnection();
watchAccount();
startCache();
render(<App />, document.getElementById("app")!);
