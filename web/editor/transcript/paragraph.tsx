/** The paragraphs of the transcript. */
import { Component, createContext } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import { formatDecimal, formatDuration } from "../../app/format";
import { useGrowing } from "../../ui/row-list";
import { type EditorPlan, toSeconds } from "../model/plan";
import type { Words } from "../model/words";
import { REASON_NAMES } from "../reasons";
import {
  type Mark,
  markWords,
  NO_MARKS,
  type ParagraphView,
  type Pause,
  type Piece,
  type ShownViews,
  splitParagraphs,
  toPieces,
  toViews,
} from "./paragraphs";
import { SECTION } from "./places";

type SectionProps = { first: number; views: readonly ParagraphView[] };

/**
 * A group of consecutive paragraphs. An edit leaves most sections unchanged. The browser also skips whole sections that
 * are out of view: each element that it can skip costs time in every frame, and a long recording has a thousand
 * paragraphs.
 */
export class Section extends Component<SectionProps> {
  override shouldComponentUpdate({ first, views }: SectionProps): boolean {
    const { props } = this;
    if (first !== props.first || views.length !== props.views.length) return true;
    return views.some((view, index) => view !== props.views[index]);
  }

  override render({ first, views }: SectionProps) {
    return (
      <div class="transcript-section" style={{ "--paragraphs": views.length }}>
        {views.map((view, index) => (
          <Paragraph key={view.from} index={first + index} view={view} />
        ))}
      </div>
    );
  }
}

/** All paragraphs, in sections. */
export const Sections = ({ views }: { views: readonly ParagraphView[] }) => (
  <>
    {Array.from({ length: Math.ceil(views.length / SECTION) }, (_, index) => (
      <Section
        key={index * SECTION}
        first={index * SECTION}
        views={views.slice(index * SECTION, (index + 1) * SECTION)}
      />
    ))}
  </>
);

type ParagraphProps = { index: number; view: ParagraphView };

/** A paragraph of the transcript. It is rendered again only if its content has changed. */
class Paragraph extends Component<ParagraphProps> {
  override shouldComponentUpdate(next: ParagraphProps): boolean {
    return next.view !== this.props.view || next.index !== this.props.index;
  }

  override render({ index, view }: ParagraphProps) {
    return (
      <p dir="auto" data-index={index} data-time={formatDuration(Math.floor(toSeconds(view.start)))}>
        {toPieces(view).map(renderPiece)}
      </p>
    );
  }
}

/** Whether screen readers read the pauses. Most texts have a removed pause in each line, which would interrupt them. */
export const ReadsPauses = createContext(false);

type PauseChipProps = { pause: Pause; word: number | undefined; isFirst: boolean };

function PauseChip({ pause: { length: time, isRemoved }, word, isFirst }: PauseChipProps) {
  const length = formatDecimal(toSeconds(time));
  const label = `Pause of ${length} s${isRemoved ? ", removed" : ""}`;
  // Empty, because characters are counted.
  return (
    <i
      class={`pause-chip${isRemoved ? " removed" : ""}${isFirst ? " is-first" : ""}`}
      {...(useContext(ReadsPauses) ? { role: "img", "aria-label": label } : { "aria-hidden": true })}
      data-length={length}
      data-word={word}
    />
  );
}

/** Renders a piece of a paragraph. */
export function renderPiece({ text, run, pause, word, isFirst }: Piece) {
  if (pause) return <PauseChip pause={pause} word={word} isFirst={isFirst === true} />;
  if (run === null) return text;
  if (run.reason !== null)
    return (
      <s class={run.reason} title={REASON_NAMES[run.reason]}>
        {text}
      </s>
    );
  if (run.review === null)
    return (
      <span class="misheard" title="Maybe misheard">
        {text}
      </span>
    );
  const title = `To review: ${run.review}`;
  return [
    // Empty, because characters are counted.
    run.isReviewStart && (
      <svg class="icon review-icon" viewBox="0 0 16 16" role="img" aria-label={title}>
        <path d="M8 2.5l6 11H2zM8 6.5v3.5M8 12h.01" />
      </svg>
    ),
    <mark class={run.isMisheard ? "to-review misheard" : "to-review"} title={title}>
      {text}
    </mark>,
  ];
}

/** Number of paragraphs in the first frame, and in each later one. */
const FIRST = 12;
const MORE = 72;

/**
 * Returns the content of the paragraphs: those of the first screen, which starts at a time, immediately, the rest frame
 * by frame.
 */
export function useViews(
  words: Words,
  texts: readonly string[],
  plan: EditorPlan,
  toReview: readonly Mark[] = NO_MARKS,
  hasAllPauses = false,
  time = 0,
): readonly ParagraphView[] {
  const previous = useRef<ShownViews | null>(null);
  const hadAllPauses = useRef(hasAllPauses);
  const paragraphs = useMemo(() => splitParagraphs(words), [words]);
  const marks = useMemo(() => markWords(words, toReview), [words, toReview]);
  const before = time === 0 ? 0 : paragraphs.findIndex(({ to }) => words.end[to - 1]! > time);
  const shown = useGrowing(paragraphs.length, FIRST + Math.max(0, before), MORE);
  return useMemo(() => {
    const known = hadAllPauses.current === hasAllPauses ? previous.current : null;
    hadAllPauses.current = hasAllPauses;
    const views = toViews(words, texts, plan, paragraphs.slice(0, shown), known, marks, hasAllPauses);
    previous.current = { plan, texts, marks, views };
    return views;
  }, [words, texts, plan, paragraphs, shown, marks, hasAllPauses]);
}
