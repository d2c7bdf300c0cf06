import { useState } from "preact/hooks";
import { CodeBlock } from "../../ui/copy-field";
import { Segments } from "../../ui/filter-bar";
import { Section } from "../../ui/section";

type Language = (typeof EXAMPLES)[number]["language"];

/** Explains how to verify the signature of a delivery. */
export function VerifySection() {
  const [language, setLanguage] = useState<Language>(EXAMPLES[0].language);
  const shown = EXAMPLES.find((example) => example.language === language)!;
  return (
    <Section
      title="Verify deliveries"
      hint="Anyone can call your URL. The signature proves that a request comes from this server and was sent within the last 5 minutes."
      actions={
        <Segments
          label="Language"
          value={language}
          options={EXAMPLES.map(({ language: value }) => ({ value, label: value }))}
          onChange={setLanguage}
        />
      }
    >
      <CodeBlock label={`${shown.language} example`} code={shown.code.trimEnd()} />
      <ul class="notes">
        <li>
          The signed content is <code>webhook-id.webhook-timestamp.body</code> with HMAC-SHA256, as in Standard
          Webhooks, which has libraries for more languages.
        </li>
        <li>
          Respond with any 2xx status within 15 seconds, and do the work afterward. Failed deliveries are retried after
          5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h. Redirects are not followed; 410 disables the endpoint.
        </li>
        <li>
          An event can arrive twice, and events can arrive out of order. Ignore a <code>webhook-id</code> that you have
          already processed.
        </li>
      </ul>
    </Section>
  );
}

import javascript from "./examples/receiver.mjs" with { type: "text" };
import python from "./examples/receiver.py" with { type: "text" };
import shell from "./examples/verify.sh" with { type: "text" };

/** Examples that verify the signature of a delivery. The test suite runs each one. */
const EXAMPLES = [
  { language: "JavaScript", code: javascript },
  { language: "Python", code: python },
  { language: "Shell", code: shell },
] as const;
