import { useEffect, useRef } from "preact/hooks";
import { mediaUrl } from "../../app/media-url";
import type { Waiting } from "../../editor/player/cut-player";
import type { PlayableMedia } from "../../editor/player/engine";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import type { Asset } from "./asset";
import { findSize, panelSizes } from "./panel-sizes";
import type { Playback } from "./playback";
import { type AssetMedia, describeWait } from "./use-media";

type VideoPanelProps = { asset: Asset; media: AssetMedia | null; playback: Playback };

const toPlayable = (assetId: string, { video_type, audio_type, frame_rate }: AssetMedia): PlayableMedia => ({
  pieceUrl: (track, from, to, seek) => {
    const span = { from: String(from), to: String(to) };
    return mediaUrl(assetId, `pieces/${track}`, seek === undefined ? span : { ...span, seek: String(seek) });
  },
  previewUrl: mediaUrl(assetId, "preview"),
  videoType: video_type,
  audioType: audio_type,
  frameRate: video_type === null || frame_rate === null ? null : frame_rate.num / frame_rate.den,
});

const describeWaiting = (waiting: Waiting | null): string | null => {
  if (waiting === null || waiting === "buffering") return null;
  return "Waiting for the server…";
};

/** Shows the video of the current playback. */
export function VideoPanel({ asset, media, playback }: VideoPanelProps) {
  const video = useRef<HTMLVideoElement>(null);
  const isReady = media?.is_preview_ready === true;
  useEffect(
    () => (isReady ? playback.attach(video.current!, toPlayable(asset.id, media)) : undefined),
    [isReady, playback, asset.id],
  );
  const height = asset.type === "audio" ? undefined : findSize(panelSizes.videoHeight);
  const { player } = playback;
  const error = player.error.value;
  const note = error ?? describeWait(media) ?? describeWaiting(player.waiting.value);
  return (
    <div
      class={asset.type === "audio" ? "studio-video audio-only" : "studio-video"}
      style={height === undefined ? undefined : { height: `${height}px`, aspectRatio: "auto", maxHeight: "none" }}
    >
      {/* biome-ignore lint/a11y/useMediaCaption: the transcript beside it has every word with its time. */}
      <video
        ref={video}
        poster={asset.type === "video" && asset.state === "ready" ? mediaUrl(asset.id, "poster") : undefined}
        playsInline
        preload="auto"
        tabIndex={-1}
        aria-label="Video"
        onClick={() => playback.toggle()}
      />
      {note !== null && (
        <div class="studio-video-note" role="status">
          <Icon name={error === null ? "info" : "warning"} />
          <p>{note}</p>
          {error !== null && <Button onClick={() => player.retry()}>Try again</Button>}
        </div>
      )}
    </div>
  );
}
