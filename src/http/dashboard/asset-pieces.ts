/** Parts of a preview for a player that assembles a cut. */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { toSeconds } from "../../domain/time";
import type { Asset } from "../../store/assets";
import { requirePreview } from "../../work/previews/previews";
import { strictObject } from "../fields";
import { matchesEtag } from "../file-response";
import { respondsWithFile, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { loadAsset, MEDIA_CACHE, MEDIA_ERRORS, mediaAccess, mediaQuery } from "./asset-media";

const MAX_PIECE_SECONDS = 60;

const seconds = (description: string) =>
  Type.Number({ minimum: 0, description, errorText: "must be a number of seconds" });

export const read = route({
  summary: "Read a part of the preview as fragmented MP4",
  access: mediaAccess,
  pathParameters: {
    track: {
      pattern: /^(video|audio)$/,
      schema: Type.String({ enum: ["video", "audio"], errorText: "must be one of video, audio" }),
    },
  },
  query: strictObject({
    ...mediaQuery.properties,
    from: seconds("Start of the part, in seconds of the recording"),
    to: seconds("End of the part: after `from`, at most 60 s later, at most the duration"),
    seek: Type.Optional(
      seconds(
        "Position to which the player seeks, between `from` and `to`. Video then starts with the keyframe before it and nothing is encoded, which is faster. Frames before `from` that the decoder needs last less than a millisecond in total",
      ),
    ),
  }),
  load: loadAsset,
  errors: [...MEDIA_ERRORS],
  responses: {
    200: respondsWithFile("An initialization segment and a fragment, with times of the recording"),
    304: respondsWithNothing("Not modified"),
  },
  handle: async (call, { resource, query: { from, to, seek = null } }) => {
    const { services, request, params, principal } = call;
    requireSpan(from, to, resource);
    requirePlace(seek, from, to);
    const facts = await requirePreview(services, resource, principal.user.id);
    const track = params.track as "video" | "audio";
    const { lastModified } = Bun.file(services.folders.media(resource.id).preview);
    const etag = `"${resource.id}-${track}-${from}-${to}-${seek}-${Math.round(lastModified)}"`;
    const headers = { "Cache-Control": MEDIA_CACHE, ETag: etag, "Content-Type": `${track}/mp4` };
    if (matchesEtag(request.headers.get("if-none-match"), etag)) return { status: 304, headers };
    const started = performance.now();
    const piece = { userId: principal.user.id, asset: resource, facts, from, to, seek, signal: request.signal };
    const { chunks, release } = await services.pieces.read(track, piece);
    const duration = (performance.now() - started).toFixed(1);
    return {
      status: 200,
      stream: streamChunks(chunks, request.signal, release),
      headers: { ...headers, "Server-Timing": `piece;dur=${duration}` },
    };
  },
});

/** Returns a stream of lazily read chunks. Calls `onEnd` when all are sent or the client has disconnected. */
function streamChunks(
  chunks: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const end = async () => {
    signal.removeEventListener("abort", end);
    await chunks.return(undefined).catch(() => {});
    onEnd();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) void end();
  return new ReadableStream(
    {
      pull: async (controller) => {
        const next = await chunks.next().catch(async (error) => {
          await end();
          throw error;
        });
        if (!next.done) return controller.enqueue(next.value);
        await end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** The displayed duration is rounded. */
const TOLERANCE_SECONDS = 0.001;

function refuse(field: "to" | "seek", input: number, message: string): never {
  const fields = [{ field: `query.${field}`, message, type: "value_error", input }];
  throw new AppError("validation_error", "Query has invalid parameters.", { fields });
}

function requireSpan(from: number, to: number, asset: Asset): void {
  if (to <= from) refuse("to", to, "must be greater than from");
  if (to - from > MAX_PIECE_SECONDS) refuse("to", to, `must be at most ${MAX_PIECE_SECONDS} s after from`);
  if (asset.duration !== null && to > toSeconds(asset.duration) + TOLERANCE_SECONDS)
    refuse("to", to, "must be at most the duration of the asset");
}

function requirePlace(seek: number | null, from: number, to: number): void {
  if (seek !== null && (seek < from || seek > to)) refuse("seek", seek, "must be between from and to");
}
