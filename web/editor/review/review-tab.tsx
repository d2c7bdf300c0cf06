import { useMemo } from "preact/hooks";
import { formatCount, formatDuration, formatTimecode } from "../../app/format";
import { canWrite } from "../../app/session";
import type { ListedRender } from "../../pages/asset/output/use-output";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { useChunks, useGrowing } from "../../ui/row-list";
import { ErrorPanel } from "../../ui/states";
import { getKeptDuration, toSeconds } from "../model/plan";
import { ALL_WORTH, type Decisions, estimateLeft, isAllWorth, type ReviewItem } from "../model/review-queue";
import { getLook, measureRange, REASON_ICONS, readExcerpt, titleItem } from "../reasons";
import { useEditor } from "../state/context";
import type { Editor } from "../state/editor-state";
import { QueueMenu } from "./queue-menu";
import { ReviewCard } from "./review-card";
import type { ReviewSession } from "./review-session";
import { useReview } from "./use-review";

/** Number of rows in the first frame, and in each later one. */
const FIRST = 8;
const MORE = 60;
/** Rows that are laid out and painted together, or not at all while they are out of view. */
const CHUNK_ROWS = 20;
/** More ticks than this do not fit into the column. */
const MAX_TICKS = 150;

/** The review of the cut: the card of a place, or the list of all places. */
export function ReviewTab() {
  const review = useReview();
  if (review === null) return <p class="soft tab-empty">Make a cut to review it.</p>;
  const { problem, items } = review.keeper;
  if (problem.value !== null) return <ErrorPanel message={problem.value} onRetry={review.keeper.reload} />;
  if (items.value === null) return null;
  return (
    <section class="review-pane" aria-label="Review">
      <Progress review={review} />
      {review.current.value === null ? <Places review={review} /> : <ReviewCard review={review} />}
    </section>
  );
}

function Progress({ review }: { review: ReviewSession }) {
  const { total, kept, removed, open } = review.progress.value;
  const checked = kept + removed;
  const queue = review.queue.value;
  const decisions = review.keeper.decisions.value;
  const left = toSeconds(estimateLeft(queue, decisions));
  return (
    <header class="review-head">
      {total > 0 && (
        <svg class="ring" viewBox="0 0 36 36" aria-hidden="true">
          <circle cx="18" cy="18" r="15.9" />
          {checked > 0 && (
            <circle
              class="done"
              cx="18"
              cy="18"
              r="15.9"
              pathLength={100}
              stroke-dasharray={`${Math.round((100 * checked) / total)} 100`}
            />
          )}
          <text x="18" y="18">
            {checked}
          </text>
        </svg>
      )}
      <div class="review-progress">
        <h2>{total === 0 ? "To review" : `${checked} of ${total} checked`}</h2>
        {total > 0 && <p class="soft">{open === 0 ? `${kept} kept, ${removed} removed` : describeLeft(left)}</p>}
      </div>
      <span class="spacer" />
      {/* A filter that leaves nothing can be changed. */}
      {(total > 0 || !isAllWorth(review.filter.value)) && <QueueMenu review={review} />}
      {total > 0 && <ActionButton name="review.previous" />}
      {total > 0 && <ActionButton name="review.next" />}
      {total > 0 && total <= MAX_TICKS && (
        <div class="ticks" aria-hidden="true">
          {queue.map((item) => (
            <i key={item.id} class={toTick(item, decisions, review.current.value)} />
          ))}
        </div>
      )}
    </header>
  );
}

const describeLeft = (seconds: number): string =>
  seconds < 90 ? "About a minute left" : `About ${formatCount(Math.round(seconds / 60), "minute")} left`;

function toTick(item: ReviewItem, decisions: Decisions, current: ReviewItem | null): string {
  const state = decisions.get(item.id) ?? "open";
  return [state, state === "removed" ? (item.reason ?? "manual") : "", item.id === current?.id ? "now" : ""].join(" ");
}

/** The progress of the review, and the list of all places. */
function Places({ review }: { review: ReviewSession }) {
  const { editor, playback } = useEditor();
  const queue = review.queue.value;
  const { total, open } = review.progress.value;
  const length = formatDuration(toSeconds(getKeptDuration(editor.latePlan.value)));
  const focusEnd = (heading: HTMLElement | null) => {
    if (review.isReviewing.peek()) heading?.focus({ preventScroll: true });
  };
  if (total === 0)
    return (
      <div class="review-end">
        <p>Nothing to review.</p>
        {review.filter.value.scope !== "every" && review.keeper.items.value!.length > 0 && (
          <Button onClick={() => review.setFilter({ ...ALL_WORTH, scope: "every" })}>Listen to every removal</Button>
        )}
      </div>
    );
  return (
    <>
      {open === 0 ? (
        <div class="review-end">
          <h3 tabIndex={-1} ref={focusEnd}>
            All {total} checked. {length}.
          </h3>
          <div class="toolbar">
            <Button
              icon="play"
              disabled={!playback.isReady.value}
              onClick={() => {
                playback.seek(0);
                playback.play("cut");
              }}
            >
              Play
            </Button>
            {canWrite.value && <EndOutput />}
          </div>
        </div>
      ) : (
        <div class="review-end">
          <ActionButton name="review.start" icon={undefined} look="primary">
            Review {open}
          </ActionButton>
        </div>
      )}
      <PlaceList review={review} queue={queue} editor={editor} />
    </>
  );
}

/** The ways out of a review: a file of the cut, and a link to it. */
function EndOutput() {
  const { editor, output } = useEditor();
  const isFile = ({ cut_id, state }: ListedRender) => cut_id === editor.cut?.id && state === "completed";
  const hasFile = output.renders.items.value?.some(isFile) ?? false;
  return (
    <>
      <ActionButton name="output.render" look={hasFile ? "default" : "primary"} />
      <ActionButton name="output.share" isLabeled />
    </>
  );
}

type ListProps = { review: ReviewSession; queue: readonly ReviewItem[]; editor: Editor };

function PlaceList({ review, queue, editor }: ListProps) {
  const shown = useGrowing(queue.length, FIRST, MORE);
  const chunks = useChunks(queue.slice(0, shown), CHUNK_ROWS);
  const decisions = review.keeper.decisions.value;
  return (
    <div class="review-places">
      {chunks.map((rows, index) => (
        <Chunk key={index} rows={rows} decisions={decisions} review={review} editor={editor} />
      ))}
    </div>
  );
}

type ChunkProps = { rows: readonly ReviewItem[]; decisions: Decisions; review: ReviewSession; editor: Editor };

/** Long recordings have thousands of rows. */
const Chunk = ({ rows, decisions, review, editor }: ChunkProps) =>
  useMemo(
    () => (
      <ul class="review-list review-chunk" style={{ "--rows": rows.length }}>
        {rows.map((item) => (
          <li key={item.id}>
            <button type="button" class="review-row" onClick={() => review.start(item)}>
              <span class="number">{formatTimecode(toSeconds(item.start))}</span>
              <span class="review-row-text">
                <Title item={item} />
                <span class="soft truncate" dir="auto">
                  {readExcerpt(editor, item) || measureRange(editor, item)}
                </span>
              </span>
              <Author review={review} item={item} state={decisions.get(item.id)} />
            </button>
          </li>
        ))}
      </ul>
    ),
    [rows, decisions, review, editor],
  );

function Title({ item }: { item: ReviewItem }) {
  const look = getLook(item);
  return (
    <strong class={look ?? "mark"}>
      <Icon name={look === null ? "mark" : REASON_ICONS[look]} />
      {titleItem(item)}
    </strong>
  );
}

function Author({ review, item, state }: { review: ReviewSession; item: ReviewItem; state: string | undefined }) {
  if (state === undefined) return null;
  const name = review.keeper.findAuthor(item.id)?.name;
  return (
    <span class="soft review-state">
      {state === "kept" ? "Kept" : "Removed"}
      {name && ` by ${name}`}
    </span>
  );
}
