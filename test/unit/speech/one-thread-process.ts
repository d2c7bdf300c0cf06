/** A speech process on a machine with one core. */
Object.defineProperty(navigator, "hardwareConcurrency", { value: 1 });
const { runSpeechProcess } = await import("../../../src/speech/process-main");

await runSpeechProcess(process.argv[2]!);

export {};
