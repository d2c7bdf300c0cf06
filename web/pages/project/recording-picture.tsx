/** The picture of a recording: its poster or the envelope of its audio. Moving the pointer over it scrubs. */
import { useEffect, useRef, useState } from "preact/hooks";
import { mediaUrl, toApiError } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatDuration } from "../../app/format";
import { Icon } from "../../ui/icon";
import { countFrames, drawEnvelope, type Recording } from "./recording";

type PictureProps = { recording: Recording; hasScrub?: boolean };

export function RecordingPicture({ recording, hasScrub = true }: PictureProps) {
  const { id, type, state, duration_seconds: text } = recording;
  const [isMissing, setIsMissing] = useState(false);
  const isReady = state === "ready";
  const hasPoster = isReady && type === "video" && !isMissing;
  const hasEnvelope = isReady && !hasPoster && recording.audio_tracks !== 0;
  const duration = Number(text ?? 0);
  const scrub = useScrub(recording, hasPoster, duration);
  return (
    <span class="recording-picture" {...(isReady && hasScrub ? scrub.handlers : {})}>
      {hasPoster && (
        <img src={mediaUrl(id, "poster")} alt="" loading="lazy" decoding="async" onError={() => setIsMissing(true)} />
      )}
      {hasEnvelope && <Envelope id={id} />}
      {!hasPoster && !hasEnvelope && <Icon name={type === "video" ? "film" : "audio"} />}
      {isReady && hasScrub && (
        <>
          <span ref={scrub.frame} class="scrub-frame" hidden />
          <span ref={scrub.line} class="scrub-line" hidden />
        </>
      )}
      {duration > 0 && (
        <span ref={scrub.time} class="picture-time number">
          {formatDuration(duration)}
        </span>
      )}
    </span>
  );
}

/** Shows the frame and the time below the pointer. Elements are changed without rendering: pointers move often. */
function useScrub(recording: Recording, hasFrames: boolean, duration: number) {
  const frame = useRef<HTMLElement>(null);
  const line = useRef<HTMLElement>(null);
  const time = useRef<HTMLElement>(null);
  const strip = useRef<HTMLImageElement | null>(null);
  const show = (isShown: boolean) => {
    if (line.current) line.current.hidden = !isShown;
    if (frame.current) frame.current.hidden = !isShown || !hasFrames || !strip.current?.naturalWidth;
  };
  const onPointerMove = (event: PointerEvent) => {
    if (event.pointerType !== "mouse" || duration <= 0) return;
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
    if (hasFrames && strip.current === null) {
      strip.current = new Image();
      strip.current.src = mediaUrl(recording.id, "filmstrip");
    }
    show(true);
    line.current!.style.left = `${share * 100}%`;
    if (time.current) time.current.textContent = formatDuration(share * duration);
    const image = strip.current;
    if (!image?.naturalWidth || !frame.current) return;
    const count = countFrames(image, recording);
    const index = Math.min(count - 1, Math.floor(share * count));
    const { style } = frame.current;
    style.backgroundImage = `url("${image.src}")`;
    style.backgroundSize = `${count * 100}% 100%`;
    style.backgroundPositionX = `${count === 1 ? 0 : (index / (count - 1)) * 100}%`;
  };
  const onPointerLeave = () => {
    show(false);
    if (time.current) time.current.textContent = formatDuration(duration);
  };
  return { frame, line, time, handlers: { onPointerMove, onPointerLeave } };
}

const POINTS = 110;

function Envelope({ id }: { id: string }) {
  const place = useRef<HTMLSpanElement>(null);
  const isSeen = useInView(place);
  return (
    <span ref={place} class="envelope-box">
      {isSeen && <EnvelopePath id={id} />}
    </span>
  );
}

function EnvelopePath({ id }: { id: string }) {
  const { value } = useRead(["envelope", id], (signal) => readEnvelope(id, signal), { lasts: "forever" }).state;
  if (value.kind === "failed") return <Icon name="audio" />;
  return value.kind === "loading" ? null : (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={value.value} />
    </svg>
  );
}

async function readEnvelope(id: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(mediaUrl(id, "envelope", { points: String(POINTS) }), { signal });
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  return drawEnvelope(await response.bytes());
}

const MARGIN = "200px";
/** What scrolls past is not loaded. */
const STAYS_MS = 120;

const listeners = new WeakMap<Element, (isIn: boolean) => void>();
let observer: IntersectionObserver | null = null;

function observe(element: Element, listener: (isIn: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
    },
    { rootMargin: MARGIN },
  );
  listeners.set(element, listener);
  observer.observe(element);
  return () => {
    listeners.delete(element);
    observer?.unobserve(element);
  };
}

/** Returns whether an element has been in view for a moment. Stays true. */
function useInView(element: { current: Element | null }): boolean {
  const [wasSeen, setWasSeen] = useState(false);
  useEffect(() => {
    if (wasSeen || element.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = observe(element.current, (isIn) => {
      clearTimeout(timer);
      if (isIn) timer = setTimeout(() => setWasSeen(true), STAYS_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [wasSeen]);
  return wasSeen;
}
