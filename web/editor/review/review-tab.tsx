import { useMemo } from "preact/hooks";
import { formatTimecode } from "../../app/format";
import { Button } from "../../ui/button";
import { useChunks } from "../../ui/use-chunks";
import { useGrowing } from "../../ui/use-growing";
import { toSeconds } from "../model/plan";
import type { Review } from "../model/reviews";
import { useEditor } from "../state/context";
import type { Editor } from "../state/editor-state";
import { readExcerpt } from "../state/excerpt";
import type { Playback } from "../state/playback";
import { describeReview } from "../state/reason-texts";
import { stepReview } from "../state/seek-actions";

/** Number of rows in the first frame, and in each later one. */
const FIRST = 8;
const MORE = 60;
/** Rows that are laid out and painted together, or not at all while they are out of view. */
const CHUNK_ROWS = 20;

/** Lists kept spans that Offcut is unsure about. */
export function ReviewTab() {
  const { editor, playback } = useEditor();
  const reviews = editor.reviews.value;
  const shown = useGrowing(reviews.length, FIRST, MORE);
  const texts = editor.texts.value;
  const chunks = useChunks(reviews.slice(0, shown), CHUNK_ROWS);
  if (reviews.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="review-title">
      <div class="panel-head">
        <h2 id="review-title">To review</h2>
        <span class="soft number">{reviews.length}</span>
        <span class="spacer" />
        <Button onClick={() => stepReview(editor, playback, -1)}>Previous</Button>
        <Button onClick={() => stepReview(editor, playback, 1)}>Next</Button>
      </div>
      <div>
        {chunks.map((rows, index) => (
          <Chunk key={index} rows={rows} texts={texts} editor={editor} playback={playback} />
        ))}
      </div>
    </section>
  );
}

type ChunkProps = { editor: Editor; playback: Playback; rows: readonly Review[]; texts: readonly string[] };

/** Long recordings have hundreds of rows. An edit does not render the rows of other spans again. */
const Chunk = ({ rows, texts, editor, playback }: ChunkProps) =>
  useMemo(
    () => (
      <ul class="review-list review-chunk" style={{ "--rows": rows.length }}>
        {rows.map((review) => (
          <li key={review.start}>
            <button type="button" class="review" onClick={() => playback.seek(review.start)}>
              <span class="number">{formatTimecode(toSeconds(review.start))}</span>
              <span class="review-text">
                <strong>{describeReview(review.review)}</strong>
                <span class="soft truncate" dir="auto">
                  {readExcerpt(editor, review)}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    ),
    [rows, texts, editor, playback],
  );
