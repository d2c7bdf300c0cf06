import { describe, expect, test } from "bun:test";
import { createRecording, cutWithScript, listKeptWords } from "./spoken-recording";

const FIRST = "welcome to our little workshop in the old harbor";
const SECOND = "today we hang a wooden shelf above the bench";
const THIRD = "please measure every wall twice before you begin";

const cut = async (spoken: readonly string[], script: readonly string[]) => {
  const analysis = createRecording(spoken.join(" / "));
  return listKeptWords(analysis, (await cutWithScript(analysis, `${script.join(".\n")}.`))!);
};

describe("a script with lines that are not recorded", () => {
  test.each<[what: string, unrecorded: string, between: string]>([
    ["a false start of the next line", "today the wall in the kitchen needs a window", "today we hang a"],
    ["an earlier take of the next line", "we painted a door beside the stairs green", SECOND.replace("above", "over")],
    ["a second take of the line before it", "our guests came by the bus in the rain", FIRST],
    ["other talk", "then the paint has to dry for an hour", "is the light still on"],
  ])("removes %s in its place", async (_, unrecorded, between) => {
    for (const script of [
      [FIRST, unrecorded, SECOND, THIRD],
      [FIRST, unrecorded, "somebody else carries ladders", SECOND, THIRD],
    ])
      expect(await cut([FIRST, between, SECOND, THIRD], script)).toBe([FIRST, SECOND, THIRD].join(" "));
  });

  test("keeps short talk in place of a line where the script differs elsewhere too", async () => {
    const said = "is the light still on";
    const differing = [
      FIRST.replace("workshop", "river"),
      "then the paint has to dry for an hour",
      SECOND.replace("wooden", "silver"),
      THIRD.replace("wall", "market"),
    ];
    expect(await cut([FIRST, said, SECOND, THIRD], differing)).toBe([FIRST, said, SECOND, THIRD].join(" "));
  });

  test.each<[what: string, others: readonly string[], spoken: readonly string[]]>([
    [
      "the lines are too short to be found with a wrong word",
      ["open the door", "take the lamp", "turn it on", "close the door again", "sit down here", "wait for us"],
      ["open the door", "take the lamp", "turn it on", "close the door again", "sit down here", "wait for us"],
    ],
    [
      "few lines are found",
      [FIRST, SECOND, "a silver river walks under yellow gardens", "winter people bring seven letters to market"],
      [
        FIRST,
        SECOND,
        "my uncle from norway has sold his boat to a museum",
        "nobody knew that its engine was still working",
      ],
    ],
  ])("keeps short talk in place of a line where %s", async (_, others, spoken) => {
    const said = "is the light still on";
    const script = [others[0]!, "then the paint has to dry for an hour", ...others.slice(1)];
    expect(await cut([spoken[0]!, said, ...spoken.slice(1)], script)).toContain(said);
  });

  test("keeps a sentence that is as long as a line in its place", async () => {
    const said = "is the light in the hall still on today";
    const script = [FIRST, "then the paint has to dry for an hour", SECOND, THIRD];
    expect(await cut([FIRST, said, SECOND, THIRD], script)).toBe([FIRST, said, SECOND, THIRD].join(" "));
  });

  test("keeps a sentence in other words than its line", async () => {
    const said = "cut these carrots into thick pieces as long as fingers";
    const line = "slice all carrots into thick sticks about a finger long";
    expect(await cut([FIRST, said, SECOND, THIRD], [FIRST, line, SECOND, THIRD])).toBe(
      [FIRST, said, SECOND, THIRD].join(" "),
    );
  });

  test("keeps a line that is interrupted by a remark", async () => {
    const [start, end] = ["fold the paper", "along the dotted line"];
    const remark = "wait somebody is at the door again and the dog barks";
    const script = [FIRST, `${start} ${end}`, SECOND, THIRD];
    expect(await cut([FIRST, start, remark, end, SECOND, THIRD], script)).toContain(`${start} ${end}`);
  });
});
