/** The words of a recording that is being transcribed: those that are recognized so far. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { MAX_PARTIAL_WORDS } from "../../../src/domain/speech";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { findLanguageName } from "../../app/rare-formats";
import type { Asset } from "../../pages/asset/use-media";
import { readWords, type Words } from "../model/words";
import { openTab, useEditor } from "../state/context";
import { useLanguages } from "./language-note";
import { Sections, useViews } from "./paragraph";
import { findPlace, type ReadingPlace } from "./places";

const READ_MS = 2_000;

/**
 * Shows the words above gray lines that stand for the rest. New words are added at the end, so the text being read does
 * not move. `place` receives where that is.
 */
export function PartialTranscript({ place }: { place: RefObject<ReadingPlace | null> }) {
  const { asset, editor } = useEditor();
  const absence = useAbsence(asset);
  const words = usePartialWords(asset.id, absence === null && openTab.value === "transcript");
  const views = useViews(words, words.text, editor.plan.value);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => () => {
      const hasFocus = scroller.current?.contains(document.activeElement) === true;
      if (hasFocus) place.current = { ...place.current, hasFocus };
    },
    [],
  );
  useEffect(() => {
    const onScroll = () => {
      if (!list.current || !scroller.current?.checkVisibility()) return;
      place.current = findPlace({ list: list.current, views }, words, scroller.current);
    };
    // The text or the page scrolls.
    window.addEventListener("scroll", onScroll, { capture: true, passive: true });
    return () => window.removeEventListener("scroll", onScroll, { capture: true });
  }, [views, words]);
  if (absence !== null) return <p class="soft transcript-empty">{absence}</p>;
  return (
    <>
      <p class="soft partial-note">
        {words.text.length === 0
          ? "The words appear here as soon as they are recognized."
          : "Still transcribing. You can edit when all words are here."}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      <div
        ref={scroller}
        class="transcript-scroller"
        role="group"
        aria-label="Words so far"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the text.
        tabIndex={0}
      >
        <div class="transcript-text is-partial" ref={list}>
          <Sections views={views} />
        </div>
        <AwaitedWords />
      </div>
    </>
  );
}

/** Gray lines in the place of words that are not here yet. */
export const AwaitedWords = () => (
  <div class="awaited-words">
    {[92, 97, 88, 95, 60, 0, 96, 90, 94, 40].map((width, line) => (
      <div key={line} class="skeleton" style={{ width: `${width}%` }} />
    ))}
  </div>
);

/** Returns why no words will appear, or null. */
function useAbsence({ audio_tracks: tracks, language }: Asset): string | null {
  const languages = useLanguages();
  if (tracks === 0) return "This recording has no audio.";
  if (language === null || languages === null || languages.includes(language)) return null;
  return `This server does not recognize ${findLanguageName(language) ?? "this language"}, so no words appear here.`;
}

/** Columns to which words are added. */
type Columns = { text: string[]; start: number[]; end: number[] };

/**
 * Reads the words while they are wanted. Keeps the last words when the server no longer returns any, until the
 * transcript is loaded.
 */
function usePartialWords(assetId: string, isWanted: boolean): Words {
  const shown = useSignal<Words>({ text: [], start: [], end: [] });
  const known = useRef<Columns & { run: number }>({ run: 0, text: [], start: [], end: [] });
  useRead(
    isWanted ? ["partial-words", assetId] : null,
    async (signal) => {
      const params = { path: { asset_id: assetId } };
      for (let isLast = false; !isLast; ) {
        const { run, text } = known.current;
        const query = { run, from: text.length };
        const path = "/api/v1/assets/{asset_id}/transcript/partial";
        const next = await must(api.GET(path, { params: { ...params, query }, signal }));
        isLast = next.text.length < MAX_PARTIAL_WORDS;
        if (next.text.length === 0) continue;
        if (next.from === 0) known.current = { run: next.run, text: [], start: [], end: [] };
        append(known.current, readWords(next));
        // After a restart of the recognition, the words stay until as many have been recognized again.
        const { text: all, start, end } = known.current;
        // Other texts are other arrays.
        if (all.length >= shown.peek().text.length) shown.value = { text: [...all], start, end };
      }
      return null;
    },
    { refreshMs: READ_MS },
  );
  return shown.value;
}

function append(columns: Columns, { text, start, end }: Words): void {
  columns.text.push(...text);
  columns.start.push(...start);
  columns.end.push(...end);
}
