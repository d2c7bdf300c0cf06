import { SURE } from "../../../src/domain/review-threshold";
import { afterNextFrame } from "../../app/after-next-frame";
import { formatConfidence } from "../../app/format";
import { Icon } from "../../ui/icon";
import { usePopover } from "../../ui/menu";
import { ALL_WORTH, listQueue, type QueueFilter } from "../model/review-queue";
import { REASON_NAMES, REASONS } from "../reasons";
import type { ReviewSession } from "./review-session";

/** Items of this length or longer, in microseconds. */
const LENGTHS: [label: string, minLength: number][] = [
  ["Any length", 0],
  ["1 s and longer", 1_000_000],
  ["3 s and longer", 3_000_000],
];

/** The menu that chooses the items of the queue. */
export function QueueMenu({ review }: { review: ReviewSession }) {
  const { isOpen, setIsOpen, root, button } = usePopover();
  const filter = review.filter.value;
  const items = review.keeper.items.value ?? [];
  const choose = (change: Partial<QueueFilter>) => {
    setIsOpen(false);
    review.setFilter({ ...filter, ...change });
    // The keys of the card work right away.
    afterNextFrame(() => {
      const card = document.querySelector<HTMLElement>(".review-card h3");
      (card ?? button.current)?.focus({ preventScroll: true });
    });
  };
  const count = (change: Partial<QueueFilter>) => listQueue(items, { ...filter, ...change }).length;
  const reasons = REASONS.filter((reason) => items.some((item) => item.reason === reason));
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="button quiet"
        aria-expanded={isOpen}
        aria-label={`Show: ${nameFilter(filter)}`}
        onClick={() => setIsOpen(!isOpen)}
      >
        {nameFilter(filter)}
        <Icon name="down" />
      </button>
      {isOpen && (
        <div class="menu-items right queue-menu">
          <h3>Show</h3>
          <Choice
            label="Worth a listen"
            count={count({ scope: "worth" })}
            isOn={filter.scope === "worth"}
            onChoose={() => choose({ scope: "worth" })}
          />
          <Choice
            label="Unsure only"
            count={count({ scope: "unsure" })}
            isOn={filter.scope === "unsure"}
            onChoose={() => choose({ scope: "unsure" })}
          />
          <Choice
            label="Every removal"
            count={count({ scope: "every" })}
            isOn={filter.scope === "every"}
            onChoose={() => choose({ scope: "every" })}
          />
          <hr />
          <Choice label="All reasons" isOn={filter.reason === null} onChoose={() => choose({ reason: null })} />
          {reasons.map((reason) => (
            <Choice
              key={reason}
              label={REASON_NAMES[reason]}
              count={count({ reason })}
              isOn={filter.reason === reason}
              onChoose={() => choose({ reason })}
            />
          ))}
          <hr />
          {LENGTHS.map(([label, minLength]) => (
            <Choice
              key={minLength}
              label={label}
              isOn={filter.minLength === minLength}
              onChoose={() => choose({ minLength })}
            />
          ))}
          <Choice
            label={`Below ${formatConfidence(SURE)} sure`}
            isOn={filter.maxConfidence !== null}
            onChoose={() => choose({ maxConfidence: filter.maxConfidence === null ? SURE : null })}
          />
          <hr />
          <Choice
            label="Play each place when it opens"
            isOn={review.playsItself.value}
            onChoose={() => {
              review.playsItself.value = !review.playsItself.value;
            }}
          />
        </div>
      )}
    </div>
  );
}

const SCOPES: Record<QueueFilter["scope"], string> = { worth: "All", unsure: "Unsure", every: "Every removal" };

function nameFilter(filter: QueueFilter): string {
  if (filter.reason !== null) return REASON_NAMES[filter.reason];
  const isNarrow = filter.minLength !== ALL_WORTH.minLength || filter.maxConfidence !== null;
  return isNarrow ? `${SCOPES[filter.scope]}, filtered` : SCOPES[filter.scope];
}

type ChoiceProps = { label: string; count?: number; isOn: boolean; onChoose(): void };

const Choice = ({ label, count, isOn, onChoose }: ChoiceProps) => (
  <button type="button" class="menu-item" aria-pressed={isOn} onClick={onChoose}>
    <span class="menu-check">{isOn && <Icon name="check" />}</span>
    {label}
    {count !== undefined && <span class="soft number">{count}</span>}
  </button>
);
