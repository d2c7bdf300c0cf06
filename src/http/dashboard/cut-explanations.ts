/** Why a cut removes and marks spans, and what the editor needs to change its pacing without planning. */
import { explainCut } from "../../work/cuts/plan-files";
import { okJsonText } from "../call";
import { cutLoader } from "../public/cuts";
import { respondsWith } from "../response-docs";
import { route } from "../route";

export const read = route({
  summary: "Explain a cut: the rule and the scores behind each removed and marked span",
  errors: ["conflict", "upstream_unavailable", "rate_limited"],
  responses: { 200: respondsWith("CutExplanation", "The explanation") },
  load: cutLoader,
  handle: async ({ services }, { resource }) => okJsonText(await explainCut(services, resource)),
});
