/** The settings in the help of `offcut serve`. */
import { expect, test } from "bun:test";
import { formatSettingsHelp } from "../../../src/cli/settings";
import { configFlags } from "../../../src/config";

test("the help of the server lists each of its settings with its default", () => {
  const help = formatSettingsHelp();
  const listed = [...help.matchAll(/^ {2}--([a-z-]+) /gm)].map(([, flag]) => flag);
  const ofWorker = ["head", "token", "redis", "jobs", "slots", "cache-bytes"];
  expect([...listed, ...ofWorker, "config"]).toEqual(Object.keys(configFlags()));
  expect(help).toMatch(/^ {2}--port +port to listen on; 0 selects a free one \(default 4700\)$/m);
  expect(help).toMatch(/^ {2}--tls-cert +PEM file of the TLS certificate$/m);
});
