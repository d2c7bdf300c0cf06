import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { formatCount } from "../../app/format";
import { me, toDisplayName } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { applyCorrections } from "../../editor/model/corrections";
import { type Content, fromDraft, toDraft } from "../../editor/model/history";
import { applyToContent, isSameContent, listChangesIn } from "../../editor/model/merge";
import { comparePlans, listKept } from "../../editor/model/plan";
import { findWordsIn } from "../../editor/model/words";
import { useEditor } from "../../editor/state/context";
import { joinTexts } from "../../editor/transcript/paragraphs";
import { Button } from "../../ui/button";
import { Message } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import type { DraftKeeper } from "./draft-keeper";
import { type Conflict, isOwnDraft, setAside } from "./draft-stores";

/** Asks which edits to keep in the places that another tab, device or person has changed too. */
export function DraftConflict({ keeper }: { keeper: DraftKeeper }) {
  const state = keeper.state.value;
  return state.kind === "conflict" && <ConflictMessage keeper={keeper} state={state} />;
}

type ConflictMessageProps = { keeper: DraftKeeper; state: Conflict };

function ConflictMessage({ keeper, state }: ConflictMessageProps) {
  const { other, places } = state;
  const { editor, differences } = useEditor();
  const [isShown, setIsShown] = useState(false);
  const [isEnding, setIsEnding] = useState(false);
  const theirs = fromDraft(editor.stored.plan, other);
  const mine = { ...editor.history.value.present, plan: editor.latePlan.value };
  const changes = listChangesIn(places, mine, theirs);
  const listTexts = ({ corrections }: Content) => {
    const texts = applyCorrections(editor.words, corrections);
    return places.texts.map((place) => joinTexts(texts, findWordsIn(editor.words, place)));
  };
  useLayoutEffect(() => {
    if (!isShown) return;
    differences.value = comparePlans(editor.plan.peek(), applyToContent(mine, changes).plan);
    return () => {
      differences.value = [];
    };
  }, [isShown, state]);
  /** The edits that are not chosen are set aside as a version, before anything overwrites them. */
  const end = async (takes: "mine" | "theirs", dropped: Content, author: string) => {
    // The saved version of somebody exists already, and one without content is not possible.
    if (!isSameContent(dropped, editor.stored) && listKept(dropped.plan).length > 0) {
      setIsEnding(true);
      try {
        await setAside(editor.cut!.id, toDraft(dropped), author === "" ? "Other edits" : `Edits by ${author}`);
      } catch (error) {
        return showFailure(error);
      } finally {
        setIsEnding(false);
      }
    }
    keeper.resolve(takes, state);
    await keeper.flush();
  };
  const own = me.value === null ? "" : toDisplayName(me.value);
  const isOwn = isOwnDraft(other);
  const author = isOwn ? own : (other.updated_by?.name ?? "");
  return (
    <Message look="warning">
      <div class="conflict-text">
        <p>
          {/* Each save of the other person changes the time and the count: screen readers do not repeat the alert. */}
          <span role="alert">
            {isOwn
              ? `You edited this cut ${other.updated_at === undefined ? "in another tab" : "in another tab or on another device"}`
              : `${author || "Somebody else"} edited this cut`}
          </span>{" "}
          {other.updated_at !== undefined && <EditedAt key={other.updated_at} iso={other.updated_at} />} (
          {formatCount(places.kept.length + places.texts.length, "change")}).
        </p>
        {isShown && places.texts.length > 0 && (
          <TextPairs
            mine={listTexts(mine)}
            theirs={listTexts(theirs)}
            names={isOwn ? ["This tab", "Other"] : ["Yours", "Theirs"]}
          />
        )}
      </div>
      <span class="message-actions studio-actions">
        <Button aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
          Show both
        </Button>
        <Button isBusy={isEnding} onClick={() => void end("mine", theirs, author)}>
          {isOwn ? "Keep these edits" : "Keep mine"}
        </Button>
        <Button isBusy={isEnding} onClick={() => void end("theirs", mine, own)}>
          {isOwn ? "Use the other edits" : "Take theirs"}
        </Button>
      </span>
    </Message>
  );
}

type TextPairsProps = { mine: string[]; theirs: string[]; names: [mine: string, theirs: string] };

/** Lists the texts of both for each place. Places with the same texts are counted. */
function TextPairs({ mine, theirs, names }: TextPairsProps) {
  const counts = new Map<string, number>();
  for (const pair of mine.map((text, n) => JSON.stringify([text, theirs[n]])))
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <ul class="note-list" aria-label="Texts of both" tabIndex={0}>
      {[...counts].map(([pair, count]) => {
        const [yours, other] = JSON.parse(pair) as [string, string];
        return (
          <li key={pair}>
            {names[0]}: “<span dir="auto">{yours}</span>”. {names[1]}: “<span dir="auto">{other}</span>”.
            {count > 1 && ` ${formatCount(count, "time")}.`}
          </li>
        );
      })}
    </ul>
  );
}

const RECENT_MS = 60_000;

/** A time such as "just now" or "2 minutes ago". */
function EditedAt({ iso }: { iso: string }) {
  const [isRecent, setIsRecent] = useState(() => Date.now() - Date.parse(iso) < RECENT_MS);
  useEffect(() => {
    // The clock of the server may be ahead.
    const timer = setTimeout(() => setIsRecent(false), Math.min(RECENT_MS, Date.parse(iso) + RECENT_MS - Date.now()));
    return () => clearTimeout(timer);
  }, []);
  return isRecent ? "just now" : <RelativeTime iso={iso} />;
}
