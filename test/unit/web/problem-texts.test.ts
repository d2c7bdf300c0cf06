import "./page-globals";
import { expect, test } from "bun:test";
import { adviseAsset, adviseCut, adviseRender } from "../../../web/pages/asset/problem-texts";

const LOG = "the server's log has the cause";

test.each([adviseAsset, adviseCut, adviseRender])(
  "the log is named once for a failure without a cause: %p",
  (advise) => {
    expect(advise({ code: "processing_failed", message: "Video could not be decoded." })).toContain(LOG);
    expect(advise({ code: null, message: null })).toContain(LOG);
    const internal = { code: "processing_failed", message: "Internal error. Details are in the server log." };
    expect(advise(internal)).not.toContain("log");
  },
);

test("advice for a known cause does not send anybody to the log", () => {
  expect(adviseCut({ code: "no_speech", message: "No speech found." })).not.toContain("log");
});
