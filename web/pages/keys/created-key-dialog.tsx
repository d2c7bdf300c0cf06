import type { NewApiKey } from "../../app/keys-api";
import { CodeBlock } from "../../ui/code-block";
import { CopyField } from "../../ui/copy-field";
import { ShownOnceDialog } from "../../ui/shown-once-dialog";
import { createExample, KEY_PLACEHOLDER } from "./key-texts";

/** Shows a new key once, because the server stores only its hash. */
export const CreatedKeyDialog = ({ created, onClose }: { created: NewApiKey; onClose(): void }) => (
  <ShownOnceDialog title="API key created" isWide onClose={onClose}>
    <CopyField
      label="API key"
      value={created.key ?? ""}
      hint="Copy it now and keep it in a safe place: it is not shown again."
      isFirst
    />
    <div class="field">
      <span class="label">Try it</span>
      <CodeBlock label="Example call" code={createExample(created.key ?? KEY_PLACEHOLDER, created.scopes)} />
    </div>
  </ShownOnceDialog>
);
