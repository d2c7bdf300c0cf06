import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRecording, cutWithScript, listKeptWords } from "./spoken-recording";

const cut = async (spoken: string, script: string, isAlignable = true) => {
  const analysis = createRecording(spoken);
  const plan = (await cutWithScript(analysis, script, isAlignable))!;
  return { kept: listKeptWords(analysis, plan), plan };
};

const SPOKEN =
  "welcome to our little workshop / today we hang a wooden shelf above the bench / please measure every wall twice";

describe("a script that differs from what is said", () => {
  test.each<[string, string]>([
    [
      "a word in a line",
      "Welcome to our river workshop. Today we hang a wooden green above the bench. Please measure every wall twice.",
    ],
    [
      "the last word of lines",
      "Welcome to our little river. Today we hang a wooden shelf above the green. Please measure every wall twice.",
    ],
    [
      "the first word of lines",
      "Welcome to our little workshop. River we hang a wooden shelf above the bench. Green measure every wall twice.",
    ],
    [
      "several words in a row",
      "Welcome to our little workshop. Today we hang river green seven carefully the bench. Please measure every wall twice.",
    ],
    [
      "words that it lacks",
      "Welcome to our workshop. Today we hang a shelf above the bench. Please measure wall twice.",
    ],
    [
      "words in another order",
      "Welcome our to little workshop. Today we a hang wooden above shelf the bench. Please measure wall every twice.",
    ],
  ])("keeps what is said in place of %s", async (_, script) => {
    for (const isAlignable of [true, false])
      expect((await cut(SPOKEN, script, isAlignable)).kept).toBe(SPOKEN.replaceAll(" /", ""));
  });

  test("keeps words between pauses and marks them", async () => {
    const { kept, plan } = await cut(
      "today we hang a wooden shelf / above the bench / please measure every wall twice",
      "Today we hang a wooden shelf under that window. Please measure every wall twice.",
    );
    expect(kept).toBe("today we hang a wooden shelf above the bench please measure every wall twice");
    expect(plan.segments.some((segment) => segment.review === "differs from the script")).toBe(true);
    expect(plan.findings.some((one) => one.rule === "review.differs_from_script")).toBe(true);
  });

  const REPEATED = `${SPOKEN} / please measure every wall twice / then we can finally begin`;

  test.each([
    ["the script is exact", "Please measure every wall twice."],
    ["a word differs", "Please measure every river twice."],
    ["the last word differs", "Please measure every wall green."],
    ["no take of the line aligns", "Please measure river wall green."],
  ])("keeps the last take of a line when %s", async (_, line) => {
    const { kept, plan } = await cut(
      REPEATED,
      `Welcome to our little workshop. Today we hang a wooden shelf above the bench. ${line} Then we can finally begin.`,
    );
    expect(kept).toBe(`${SPOKEN.replaceAll(" /", "")} then we can finally begin`);
    const [removed] = plan.removed.filter((span) => span.reason === "retake");
    const last = createRecording(REPEATED).transcript!.words.findLast((word) => word.text === "please")!;
    expect(removed!.end).toBeLessThanOrEqual(last.start);
  });

  test.each([
    ["a remark", "sorry let me say that again", "Today we hang a wooden shelf above the green."],
    ["other talk where the script is exact", "is the light still on", "Today we hang a wooden shelf above the bench."],
    ["a false start", "please measure every", "Today we hang a wooden shelf above the green."],
  ])("still removes %s between two lines", async (_, between, line) => {
    const { kept } = await cut(
      SPOKEN.replace("/ please", `/ ${between} / please`),
      `Welcome to our little workshop. ${line} Please measure every wall twice.`,
    );
    expect(kept).toBe(SPOKEN.replaceAll(" /", ""));
  });

  test("never removes words that are said once between two matched words", async () => {
    const recordings = fc
      .array(fc.integer({ min: 5, max: 9 }), { minLength: 3, maxLength: 5 })
      .map((lengths) => {
        const all = [...WORDS];
        return lengths.map((length) => all.splice(0, length));
      })
      .chain((lines) =>
        fc.record({
          lines: fc.constant(lines),
          // At most each third word is replaced, so that the words beside it match.
          replaced: fc.array(fc.nat(2), { minLength: 60, maxLength: 60 }),
          isAlignable: fc.boolean(),
        }),
      );
    await fc.assert(
      fc.asyncProperty(recordings, async ({ lines, replaced, isAlignable }) => {
        const spoken = lines.map((line) => line.join(" ")).join(" / ");
        let block = 0;
        const script = lines
          .map((line) => {
            const changed = [...line];
            for (let from = 0; from + 3 <= line.length; from += 3) {
              if (replaced[block++] === 1) changed[from + 1] = OTHER_WORDS[block % OTHER_WORDS.length]!;
            }
            return `${changed.join(" ")}.`;
          })
          .join("\n");
        const { kept } = await cut(spoken, script, isAlignable);
        expect(kept).toBe(spoken.replaceAll(" /", ""));
      }),
      { numRuns: 200 },
    );
  });
});

describe("a script of another recording of the same series", () => {
  const HELLO = "Hello everybody and welcome.";
  const BAKER = "My name is Robin.";
  const BYE = "Thank you for watching.";
  const CAKE =
    "Fold the egg whites into the batter. Butter the tin and dust it with flour. Bake the cake for forty minutes. Let it cool before you slice it. Serve it with cream and berries.";
  const BEES =
    "Find your way by sun. Dancing tells others where nectar was. A hive has one queen. In winter each colony keeps her warm. Drones leave in autumn every year.";

  test.each([
    ["is refused when it shares the first and the last line", [HELLO, CAKE, BYE], [HELLO, BEES, BYE], false],
    ["is refused when it shares the first lines", [HELLO, BAKER, CAKE], [HELLO, BAKER, BEES], false],
    [
      "is accepted when it shares a line that is not among them",
      [HELLO, CAKE, BAKER],
      [BEES, CAKE.split(". ")[1]!, BEES],
      true,
    ],
    ["is accepted when it shares many of them", [HELLO, BAKER, CAKE, BYE], [HELLO, BAKER, BEES, BYE], true],
  ])("%s", async (_, spoken, script, expected) => {
    const said = spoken.join(" ").replaceAll(". ", ". / ");
    const plan = await cutWithScript(createRecording(said), script.join("\n"));
    expect(plan !== null).toBe(expected);
  });
});

test.each([["sorry wait"], ["hang on"], ["one second please"]])(
  "without forced alignment, the remark %p inside a line is removed",
  async (remark) => {
    const spoken = `welcome to our little workshop / today we hang a wooden / ${remark} / shelf above the bench / please measure every wall twice`;
    const script = SPOKEN.split(" / ").join(". ");
    expect((await cut(spoken, script, false)).kept).toBe(SPOKEN.replaceAll(" / ", " "));
  },
);

describe("a script of which few words are recognized in noise", () => {
  const SAID =
    "well hello there from us at home and you all too / he has been up to it as we do so often / this is a primbing follow that course / let me just start yellow needles / scroll the between those pages / we have got events mountain glue / until you keep dry hands / so long then from us at home and you all too / he has not been up to it as they do so often / if only they had seen us do it on our own";
  test.each([
    [
      "is accepted if most lines have a long word there",
      ["that course", "yellow needles", "between those pages", "mountain glue", "dry hands"],
      ...(["en", true] as const),
    ],
    [
      "is refused if few of them have one",
      ["that course", "simple river", "over some markets", "silver ladder", "dry hands"],
      ...(["en", false] as const),
    ],
    [
      "is refused if their words are short",
      ["that path", "yellow start", "between those events", "bright glue", "dry feet"],
      ...(["en", false] as const),
    ],
    [
      "is refused in a language without a lexicon",
      ["that course", "yellow needles", "between those pages", "mountain glue", "dry hands"],
      ...(["nl", false] as const),
    ],
  ])("%s", async (_, [first, second, third, fourth, fifth], language, expected) => {
    const script = [
      `Seven winter gardens follow ${first}.`,
      `Green kitchens bring always ${second}.`,
      `Fold another paper ${third}.`,
      `Tomorrow somebody sews ${fourth}.`,
      `Never carry simple flat ${fifth}.`,
    ];
    const plan = await cutWithScript(createRecording(SAID), script.join("\n"), true, language);
    expect(plan !== null).toBe(expected);
  });
});

const WORDS =
  "lamp copper violin harvest pepper saddle thunder ribbon castle mirror walnut engine blanket compass dolphin feather glacier hammer island jungle kettle ladder magnet needle orchard parcel quarry rocket sandal tunnel umbrella valley wagon yogurt zipper anchor button candle drawer eagle forest garlic hollow insect jacket kernel lantern meadow napkin oyster".split(
    " ",
  );
const OTHER_WORDS = "river green seven carefully market bring silver always letter never".split(" ");
