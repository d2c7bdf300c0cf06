/** Loads the data for the editor: the recording's cuts, the open one, and the words. */
import { useMemo } from "preact/hooks";
import { type Resource, useKept } from "../../app/cache";
import type { Words } from "../../editor/model/words";
import { createPlayback } from "../../editor/state/playback";
import { ErrorPanel } from "../../ui/states";
import type { Asset } from "./asset";
import { AssetSkeleton } from "./asset-skeleton";
import { createScriptForm } from "./script-form";
import { type ListedCut, useCuts } from "./use-cuts";
import type { AssetMedia } from "./use-media";
import { useWords } from "./use-words";
import { Workspace } from "./workspace";

const NO_WORDS: Words = { text: [], start: [], end: [] };

type StudioProps = { asset: Asset; list: Resource<ListedCut[]>; media: Resource<AssetMedia> };

export function Studio({ asset, list, ...props }: StudioProps) {
  const cuts = useCuts(asset.id, list);
  const read = useWords(asset);
  const media = useKept(props.media.state.value, asset.id);
  const playback = useMemo(createPlayback, [asset.id]);
  const form = useMemo(() => createScriptForm(asset.id), [asset.id]);
  const opened = cuts.open;
  const listed = cuts.items;
  if (listed.kind === "failed") return <ErrorPanel message={listed.message} onRetry={() => void cuts.list.reload()} />;
  if (opened.kind === "failed") return <ErrorPanel message={opened.message} onRetry={cuts.reload} />;
  if (opened.kind === "loading" || listed.kind === "loading" || read.kind === "loading") return <AssetSkeleton />;
  return (
    <Workspace
      asset={asset}
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
