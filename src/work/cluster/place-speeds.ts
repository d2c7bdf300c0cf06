/** Remembers how fast each place encodes, and shows it in the list of workers. */
import { updateSpeed } from "../../domain/chunk-sizes";
import { measureRender } from "../../domain/render-speed";
import { FALLBACK_PIXELS_PER_SECOND } from "../../media/split-render";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { LOCAL } from "./places";
import type { WorkerList } from "./worker-list";

type Output = RenderInput["output"];

export type PlaceSpeeds = {
  /** Returns the pixels per second of one slot of the place; null when it has not been measured. */
  get(placeId: string): number | null;
  /** Records the measured pixels per second of one slot, in a render with this output. */
  record(placeId: string, measured: number, output: Output): void;
  /** Records a render that ran whole at a place. `seconds` from its start to its end, with the transfer of its files. */
  recordRender(place: { id: string; slots: number }, output: Output, rendered: RenderOutput, seconds: number): void;
};

/** Assumed where frames keep the rate of the source. */
const TYPICAL_FRAME_RATE = 30;

export function createPlaceSpeeds(workerList: Pick<WorkerList, "setSpeed">): PlaceSpeeds {
  const speeds = new Map<string, number>();
  const get = (placeId: string) => speeds.get(placeId) ?? null;
  const record: PlaceSpeeds["record"] = (placeId, measured, output) => {
    const speed = updateSpeed(get(placeId), measured);
    if (speed === null) return;
    speeds.set(placeId, speed);
    const { width, height, frameRate } = output.video!;
    const rate = frameRate === null ? TYPICAL_FRAME_RATE : frameRate.num / frameRate.den;
    if (placeId !== LOCAL) workerList.setSpeed(placeId, speed / (width * height * rate));
  };
  return {
    get,
    record,
    recordRender: ({ id, slots }, output, { encoding, strategy }, seconds) => {
      if (output.video === null || encoding === undefined) return;
      const measured = measureRender({
        reported: encoding,
        pixels: output.video.width * output.video.height,
        slots,
        // A worker could also call a copy an encoded render.
        isEncoded: !output.matchesSource && strategy === "chunked",
        seconds,
        known: get(id),
        fallback: FALLBACK_PIXELS_PER_SECOND,
      });
      if (measured !== null) record(id, measured, output);
    },
  };
}
