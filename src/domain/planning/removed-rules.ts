/** Determines the rule of each removed span, and lists all findings of a plan. */
import type { Plan, RemovedSpan } from "../plan";
import type { Span, Ticks } from "../time";
import { type Finding, isReviewRule, type RemovalRule } from "./rules";
import { type DecidedSpan, durationOf, findOverlapping, indexEndingAfter, isKept, overlapDuration } from "./spans";

/**
 * Returns the removed spans with their rules, and the findings of the plan in order of time. A span that several rules
 * removed gets the rule that covers most of it. `spans` are sorted and disjoint.
 */
export function attachRules(
  removed: readonly RemovedSpan[],
  spans: readonly DecidedSpan[],
  minPause: Ticks,
  duration: Ticks,
): Pick<Plan, "removed" | "findings"> {
  const findings: Finding[] = spans.filter(isKept).flatMap((span) => joinFindings(clipFindings(span)));
  const ruled = removed.map((span) => {
    const own = span.reason === "silence" ? [pauseFinding(span, spans, minPause, duration)] : removalsIn(span, spans);
    findings.push(...own);
    return { ...span, rule: mainRule(own) };
  });
  return { removed: ruled, findings: findings.sort((a, b) => a.start - b.start || a.end - b.end) };
}

/** Returns the findings that removed a span: those of the overlapping decided spans with the same reason. */
function removalsIn(removed: RemovedSpan, spans: readonly DecidedSpan[]): Finding[] {
  const same = findOverlapping(spans, removed).filter((span) => span.reason === removed.reason);
  const findings = joinFindings(same.flatMap(clipFindings).filter(({ rule }) => !isReviewRule(rule)));
  // A word may be kept in part, because segments have a minimum duration. Its finding then applies to the rest.
  const { start, end } = removed;
  return findings.map((one) => (overlapDuration(one, removed) > 0 ? one : { ...one, start, end }));
}

/** Returns the findings of a span, clipped to it. */
const clipFindings = ({ start, end, findings }: DecidedSpan): Finding[] =>
  findings.map((finding) => {
    const clipped = { start: Math.max(start, finding.start), end: Math.min(end, finding.end) };
    return { ...finding, ...(clipped.end > clipped.start ? clipped : { start, end }) };
  });

/** Merges findings with the same rule and scores. */
function joinFindings(findings: readonly Finding[]): Finding[] {
  const out: Finding[] = [];
  for (const finding of findings) {
    const last = out.findLast((one) => isSameMatch(one, finding));
    if (last) last.end = Math.max(last.end, finding.end);
    else out.push({ ...finding });
  }
  return out;
}

const isSameMatch = (a: Finding, b: Finding) =>
  a.rule === b.rule && (a.scores === b.scores || JSON.stringify(a.scores) === JSON.stringify(b.scores));

function mainRule(findings: readonly Finding[]): RemovalRule {
  const durations = new Map<RemovalRule, Ticks>();
  for (const finding of findings) {
    if (isReviewRule(finding.rule)) continue;
    durations.set(finding.rule, (durations.get(finding.rule) ?? 0) + durationOf(finding));
  }
  return [...durations].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Returns the finding of removed silence, from the speech and the removed spans on both sides of it. */
function pauseFinding(silence: Span, spans: readonly DecidedSpan[], minPause: Ticks, duration: Ticks): Finding {
  const middle = (silence.start + silence.end) / 2;
  const index = indexEndingAfter(spans, middle);
  const [before, after] = [spans[index - 1], spans[index]];
  const scores = { pause: (after?.start ?? duration) - (before?.end ?? 0), minPause };
  const { start, end } = silence;
  if (!before) return { start, end, rule: "pause.leading", scores };
  if (!after) return { start, end, rule: "pause.trailing", scores };
  const isBetweenSpeech = isKept(before) && isKept(after);
  return { start, end, rule: isBetweenSpeech ? "pause.long" : "pause.beside_removed", scores };
}
