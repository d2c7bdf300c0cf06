/** The child process in which a cut's plan is made, changed or written in another form. It reads the asset's folder and writes nothing. */
import type { MediaFolder } from "../../blobs/folders";
import type { Services } from "../services";
import { type JobChild, openJobChild } from "./child";
import { MAX_PLAN_MEMORY_BYTES } from "./limits";

/** Starts the child for the asset in `folder`. */
export const openPlanChild = (services: Pick<Services, "jobCommand" | "sandbox">, folder: MediaFolder): JobChild =>
  openJobChild({
    command: services.jobCommand,
    sandbox: services.sandbox,
    view: { readOnly: [folder.dir], writable: [], devices: false },
    limitCode: "processing_failed",
    maxMemoryBytes: MAX_PLAN_MEMORY_BYTES,
  });
