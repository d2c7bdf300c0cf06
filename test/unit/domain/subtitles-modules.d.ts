declare module "webvtt-parser" {
  type TextNode = { type: string; value?: string; children?: TextNode[] };
  type ParsedCue = { startTime: number; endTime: number; text: string; tree: { children: TextNode[] } };
  export class WebVTTParser {
    parse(input: string, mode?: string): { cues: ParsedCue[]; errors: { message: string; line: number }[] };
  }
}
