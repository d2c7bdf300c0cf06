/** Starts the dashboard. */
import { render } from "preact";
import { watchOtherDrops } from "../upload/dropped-files";
import { watchAccount } from "./account-tabs";
import { afterNextFrame } from "./after-next-frame";
import { App } from "./app";
import { watchConnection } from "./connection";
import { startLive } from "./live";
import { watchNotifications } from "./notifications";
import { watchEndedRenders, watchOpenJobs } from "./open-jobs";
import { startCache } from "./query-client";
import { preloadPage } from "./routes";
import { session } from "./session";
import { applyTheme } from "./theme";

applyTheme();
watchOtherDrops();
preloadPage(location.pathname);
watchConnection();
watchAccount();
startCache();
render(<App />, document.getElementById("app")!);
startLater();

/** Starts the background updates after the first frame. */
function startLater(): void {
  const stop = session.subscribe(({ kind }) => {
    if (kind === "unknown") return;
    stop();
    afterNextFrame(() => {
      startLive();
      watchOpenJobs();
      watchEndedRenders();
      watchNotifications();
    });
  });
}
