import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { ApiError, api, isNotFound, mediaUrl, must } from "../../app/api";
import { type Loaded, type Resource, useKept, useRead } from "../../app/cache";
import { fetchFile } from "../../app/fetch-file";
import { formatDuration, nameOf } from "../../app/format";
import { client } from "../../app/query-client";
import { canWrite, workspace } from "../../app/session";
import { EDITOR_ICONS } from "../../editor/icons";
import { readWords, type Words } from "../../editor/model/words";
import { createPlayback } from "../../editor/state/playback";
import { AwaitedWords } from "../../editor/transcript/partial-transcript";
import { addIcons } from "../../ui/icon";
import { NotFoundPage, Page, useTitle } from "../../ui/page";
import { CreditsLink, ErrorMessage, ErrorPanel, Message } from "../../ui/states";
import { AssetStatus } from "../../ui/status";
import { Missing } from "../missing";
import { PlannedMode } from "./planned-cut";
import { adviseAsset } from "./problem-texts";
import { createScriptForm } from "./script";
import { PLANNED, ScriptField } from "./script-panel";
import { type ListedCut, listCuts, useCuts } from "./use-cuts";
import { type Asset, type AssetMedia, findFileRetryMs, useMedia, useProjectName } from "./use-media";
import { Workspace } from "./workspace";

addIcons(EDITOR_ICONS);

/** A recording in the editor: one that can be cut, and one whose words are being recognized. */
const isEditable = ({ kind, state, cuttable }: Asset): boolean =>
  kind === "source" && (cuttable || state === "processing");

/** The states of a recording that change by themselves. */
const CHANGING = ["pending_upload", "processing", "pending_payment"];
/** Interval for progress, and for states while no event stream is open. */
const PROGRESS_MS = 3_000;

/** Shows a recording: its cuts, and the editor. */
export default function AssetPage() {
  const assetId = useRoute().params.assetId ?? "";
  const asset = useRead<Asset>(
    ["asset", assetId, workspace.value?.id],
    (signal) => must(api.GET("/api/v1/assets/{asset_id}", { params: { path: { asset_id: assetId } }, signal })),
    { refreshMs: ({ state }) => (CHANGING.includes(state) ? PROGRESS_MS : undefined) },
  );
  const kept = useKept(asset.state.value, assetId);
  // Somebody may delete a recording that is open.
  const state = isDeleted(asset.state.value) ? asset.state.value : kept;
  useTitle(state.kind === "ready" ? nameOf(state.value) : "Recording");
  const isEdited = state.kind !== "ready" || isEditable(state.value);
  // Both are requested together with the recording: few recordings are opened before they are ready.
  const cuts = useRead<ListedCut[]>(isEdited ? ["cuts", assetId, workspace.value?.id] : null, (signal) =>
    listCuts(assetId, signal),
  );
  const media = useMedia(assetId, isEdited && state.kind !== "failed");

  // When another recording is opened, the previous one is still loaded.
  const isOther = state.kind === "ready" && state.value.id !== assetId;
  const skeleton = <AssetSkeleton type={findListedType(assetId)} />;
  if (state.kind === "loading" || isOther) return skeleton;
  if (state.kind === "failed") {
    if (!isNotFound(state.error)) return <ErrorPanel error={state.error} onRetry={() => void asset.reload()} />;
    return (
      <Missing id={assetId} skeleton={skeleton}>
        <NotFoundPage />
      </Missing>
    );
  }
  const { value } = state;
  return isEdited ? <Studio key={value.id} asset={value} list={cuts} media={media} /> : <AssetWaiting asset={value} />;
}

const isDeleted = (state: Loaded<Asset>): boolean => state.kind === "failed" && isNotFound(state.error);

const NO_WORDS: Words = { text: [], start: [], end: [] };

type StudioProps = { asset: Asset; list: Resource<ListedCut[]>; media: Resource<AssetMedia> };

function Studio({ asset, list, ...props }: StudioProps) {
  const cuts = useCuts(asset.id, list);
  const read = useWords(asset);
  // Once the words are recognized, the page stays as it is until they are loaded.
  const wasPrepared = useRef(asset.cuttable);
  const isPrepared = asset.cuttable && (wasPrepared.current || read.kind !== "loading");
  wasPrepared.current = isPrepared;
  const media = useKept(props.media.state.value, asset.id);
  const playback = useMemo(createPlayback, [asset.id]);
  const form = useMemo(() => createScriptForm(asset.id), [asset.id]);
  const opened = cuts.open;
  const listed = cuts.items;
  if (listed.kind === "failed") return <ErrorPanel {...listed} onRetry={() => void cuts.list.reload()} />;
  if (opened.kind === "failed") return <ErrorPanel {...opened} onRetry={cuts.reload} />;
  if (opened.kind === "loading" || listed.kind === "loading" || (isPrepared && read.kind === "loading"))
    return <AssetSkeleton type={asset.type} />;
  return (
    <Workspace
      asset={isPrepared ? asset : { ...asset, cuttable: false }}
      cuts={cuts}
      opened={opened.value}
      media={media.kind === "ready" ? media.value : null}
      form={form}
      playback={playback}
      words={read.kind === "ready" ? read.value : NO_WORDS}
      problem={read.kind === "failed" ? read.message : null}
    />
  );
}

const WAIT_MS = 2_000;

/** Loads the transcript. It is loading while the server still creates it, as for an old recording. */
function useWords({ id, has_transcript: hasTranscript }: Asset): Loaded<Words> {
  const words = useRead<Words | null>(
    ["words", id, hasTranscript],
    async (signal) => (hasTranscript ? loadWords(id, signal) : NO_WORDS),
    { lasts: "forever", retryMs: findFileRetryMs, refreshMs: (read) => (read === null ? WAIT_MS : undefined) },
  );
  const state = words.state.value;
  if (state.kind !== "ready") return state;
  return state.value === null ? { kind: "loading" } : { kind: "ready", value: state.value };
}

/** Returns null if the transcript is not ready. */
async function loadWords(assetId: string, signal: AbortSignal): Promise<Words | null> {
  try {
    const response = await fetchFile(mediaUrl(assetId, "transcript"), signal);
    return readWords(await response.json());
  } catch (error) {
    if (error instanceof ApiError && error.code === "asset_processing") return null;
    throw error;
  }
}

/** Returns the type of a recording from a list that was loaded before. Returns null if unknown. */
function findListedType(assetId: string): Asset["type"] {
  for (const [, rows] of client.getQueriesData<{ items?: Pick<Asset, "id" | "type">[] }>({ queryKey: ["assets"] })) {
    const found = rows?.items?.find(({ id }) => id === assetId);
    if (found !== undefined) return found.type;
  }
  return null;
}

/** A placeholder of the same layout while the editor is loading. Without a known type, it is that of a video. */
const AssetSkeleton = ({ type }: Pick<Asset, "type">) => (
  <div
    class={type === "audio" ? "workspace is-loading of-audio" : "workspace is-loading"}
    role="status"
    aria-label="Loading"
  >
    <div class="work-bar" />
    <div class="stage">
      <div class="headline">
        <div class="skeleton result-shape" />
      </div>
      <div class="view">
        <div class={type === "audio" ? "picture" : "picture skeleton"}>
          {type === "audio" && <div class="envelope skeleton" />}
        </div>
      </div>
    </div>
    <div class="transport" />
    <div class="side">
      <div class="tabs" />
      <div class="find-bar">
        <div class="find-row" />
      </div>
      <AwaitedWords />
    </div>
    <div class="timeline-panel">
      <div class="timeline-tools" />
      <div class="timeline-canvas" />
      <div class="timeline-overview" />
    </div>
    <div class="dock" />
  </div>
);

const AssetWaiting = ({ asset }: { asset: Asset }) => (
  <Page
    title={nameOf(asset)}
    crumb={{ label: useProjectName(asset.project_id) ?? "Project", href: `/projects/${asset.project_id}` }}
    actions={<AssetStatus state={asset.state} cuttable={asset.cuttable} />}
  >
    <Explanation asset={asset} />
    {canWrite.value && asset.kind === "source" && asset.state !== "failed" && <Plan asset={asset} />}
  </Page>
);

function Plan({ asset }: { asset: Asset }) {
  const form = useMemo(() => createScriptForm(asset.id), [asset.id]);
  const [error, setError] = useState<unknown>(null);
  return (
    <section class="panel card planned-cut" aria-labelledby="planned-title">
      <h2 id="planned-title">{PLANNED}</h2>
      <ScriptField form={form} onError={setError} />
      <ErrorMessage error={error} />
      <PlannedMode asset={asset} form={form} />
    </section>
  );
}

function Explanation({ asset }: { asset: Asset }) {
  const minutes = asset.duration_seconds === null ? null : Number(asset.duration_seconds);
  if (asset.kind !== "source")
    return <Note>This file is the output of a job. To change the cut, open the recording.</Note>;
  switch (asset.state) {
    case "pending_upload":
      return (
        <Note>
          The upload is not finished. Keep the uploading tab open, or drop the same file on the project page to resume.
        </Note>
      );
    case "pending_payment":
      return (
        <Note look="warning">
          The balance does not cover this recording{minutes !== null && ` of ${formatDuration(minutes)}`}. Buy credits,
          or ask an administrator for some. Preparation then continues automatically. <CreditsLink />
        </Note>
      );
    default:
      return (
        <Note look="bad">
          <strong>{asset.error_message ?? "The recording could not be prepared."}</strong>{" "}
          {adviseAsset({ code: asset.error_code, message: asset.error_message })}
        </Note>
      );
  }
}

const Note = ({ look, children }: { look?: "warning" | "bad"; children: ComponentChildren }) => (
  <Message look={look} role={look === "bad" ? "alert" : undefined}>
    <p>{children}</p>
  </Message>
);
