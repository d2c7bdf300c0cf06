/** Parts of a preview or source for a player that assembles a cut. */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { NOISE_REDUCTION_MODES } from "../../domain/media";
import { strictObject } from "../../domain/schema-parts";
import { toSeconds } from "../../domain/time";
import type { Asset } from "../../store/assets";
import { hasSpeechAnalysis } from "../../work/assets/prepared-files";
import { PIECE_VARIANTS } from "../../work/previews/pieces";
import { requirePlayable } from "../../work/previews/previews";
import { matchesEtag } from "../file-response";
import { respondsWithFile, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { MEDIA_CACHE, mediaQuery, mediaRoute } from "./asset-media";

const MAX_PIECE_SECONDS = 60;

const seconds = (description: string) =>
  Type.Number({ minimum: 0, description, errorText: "must be a number of seconds" });

export const read = route({
  summary: "Read a part of the preview or source as fragmented MP4",
  ...mediaRoute,
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
    variant: Type.Optional(
      Type.Union(
        PIECE_VARIANTS.map((name) => Type.Literal(name)),
        {
          description:
            "`preview` (default): encoded for all browsers, on request while the preview is being created. `source`: the packets of the recording, which is faster; for tracks with a type in `source` of `AssetMedia`. Frames before its first keyframe are encoded",
          errorText: "must be one of preview, source",
        },
      ),
    ),
    noise_reduction: Type.Optional(
      Type.Union(
        NOISE_REDUCTION_MODES.map((name) => Type.Literal(name)),
        {
          description:
            "Reduces noise in audio as a render does. Audio is then encoded on request, and has the type of the preview. Video stays as it is",
          errorText: `must be one of ${NOISE_REDUCTION_MODES.join(", ")}`,
        },
      ),
    ),
    seek: Type.Optional(
      seconds(
        "Position to which the player seeks, between `from` and `to`. Video then starts with the keyframe before it and nothing is encoded, which is faster. Frames before `from` that the decoder needs last less than a millisecond in total",
      ),
    ),
  }),
  responses: {
    200: respondsWithFile(
      "Initialization segments and fragments, with times of the recording. `Piece-Sections` lists sections in the form `BYTES TYPE`, separated by commas: a player changes the type of its buffer between them",
    ),
    304: respondsWithNothing("Not modified"),
  },
  handle: async (call, { resource, query }) => {
    const { from, to, seek = null, variant = "preview", noise_reduction: noiseReduction = null } = query;
    const { services, request, params, principal } = call;
    requireSpan(from, to, resource);
    requirePlace(seek, from, to);
    const track = params.track as "video" | "audio";
    const playable = await requirePlayable(services, resource, principal.user.id);
    const folder = services.folders.media(resource.id);
    const { lastModified } = Bun.file(
      variant === "preview" && playable.facts !== null ? folder.preview : folder.source,
    );
    // Noise is reduced better once it is known where somebody speaks.
    const isFinal = noiseReduction === null || (await hasSpeechAnalysis(folder));
    const etag = `"${resource.id}-${variant}-${track}-${from}-${to}-${seek}-${noiseReduction}-${isFinal}-${Math.round(lastModified)}"`;
    const headers = { "Cache-Control": isFinal ? MEDIA_CACHE : "no-cache", ETag: etag, "Content-Type": `${track}/mp4` };
    if (matchesEtag(request.headers.get("if-none-match"), etag)) return { status: 304, headers };
    const started = performance.now();
    const { signal } = request;
    const piece = {
      userId: principal.user.id,
      asset: resource,
      ...playable,
      variant,
      from,
      to,
      seek,
      noiseReduction,
      signal,
    };
    const { chunks, sections, release } = await services.pieces.read(track, piece);
    const duration = (performance.now() - started).toFixed(1);
    return {
      status: 200,
      stream: streamChunks(chunks, signal, release),
      headers: {
        ...headers,
        "Piece-Sections": sections.map(({ bytes, type }) => `${bytes} ${type}`).join(", "),
        "Server-Timing": `piece;dur=${duration}`,
      },
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
