/** The words of a recording that is being transcribed: those that are recognized so far. */
import { useRef } from "preact/hooks";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { readWords, type Words } from "../model/words";
import { useEditor } from "../state/context";
import { Section, useViews } from "./paragraph";
import { SECTION } from "./places";

const NO_WORDS: Words = { text: [], start: [], end: [] };
const READ_MS = 2_000;

/** Shows the words above gray lines that stand for the rest. New words are added at the end, so what somebody reads stays where it is. */
export function PartialTranscript() {
  const { asset, editor } = useEditor();
  const words = usePartialWords(asset.id);
  const views = useViews(words, words.text, editor.plan.value, false);
  const isEmpty = words.text.length === 0;
  return (
    <>
      <p class="soft partial-note">
        {isEmpty
          ? "The words appear here as soon as they are recognized."
          : "Still transcribing. You can edit when all words are here."}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the text. */}
      <div class="transcript-scroller" role="group" aria-label="Words so far" tabIndex={0}>
        <div class="transcript-text is-partial">
          {Array.from({ length: Math.ceil(views.length / SECTION) }, (_, index) => (
            <Section
              key={index * SECTION}
              first={index * SECTION}
              views={views.slice(index * SECTION, (index + 1) * SECTION)}
            />
          ))}
        </div>
        <div class="awaited-words">
          {[92, 97, 88, 95, 60, 0, 96, 90, 94, 40].map((width, line) => (
            <div key={line} class="skeleton" style={{ width: `${width}%` }} />
          ))}
        </div>
      </div>
    </>
  );
}

function usePartialWords(assetId: string): Words {
  const known = useRef({ assetId, words: NO_WORDS });
  if (known.current.assetId !== assetId) known.current = { assetId, words: NO_WORDS };
  const read = useRead<Words>(
    ["partial-words", assetId],
    async (signal) => {
      const entry = known.current;
      const from = entry.words.text.length;
      const params = { path: { asset_id: assetId }, query: { from } };
      const next = await must(api.GET("/api/v1/assets/{asset_id}/transcript/partial", { params, signal }));
      const isSame = next.from === from && next.text.length === 0;
      if (!isSame) entry.words = append(entry.words, next.from, readWords(next));
      return entry.words;
    },
    { refreshMs: READ_MS },
  );
  return read.state.value.kind === "ready" ? read.state.value.value : known.current.words;
}

/** Returns the words before an index, followed by the next ones. */
const append = (words: Words, from: number, next: Words): Words => ({
  text: [...words.text.slice(0, from), ...next.text],
  start: [...words.start.slice(0, from), ...next.start],
  end: [...words.end.slice(0, from), ...next.end],
});
