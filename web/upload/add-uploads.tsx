/** Uploads recordings to a project. Asks before a file is uploaded again. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { MAX_SEARCH_CHARACTERS } from "../../src/domain/field-limits";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { listNames } from "./messages";
import { addUploads } from "./queue";
import { dropScripts } from "./scripts";

/** `known`: files that the project may already contain. `answer` receives the files to upload; null cancels. */
type Question = { files: File[]; known: File[]; answer(chosen: File[] | null): void };

type AddUploads = {
  /** Returns false if the user closes the question. Throws `ApiError`. */
  add(projectId: string, files: File[]): Promise<boolean>;
  /** The dialog to render while a question is open. */
  question: ComponentChildren;
};

export function useAddUploads(): AddUploads {
  const [asked, setAsked] = useState<Question | null>(null);
  return {
    add: async (projectId, files) => {
      const known = await findDuplicates(projectId, files);
      const ask = () => new Promise<File[] | null>((answer) => setAsked({ files, known, answer }));
      const chosen = known.length === 0 ? files : await ask();
      setAsked(null);
      if (chosen === null) return false;
      dropScripts(
        files.filter((file) => !chosen.includes(file)),
        chosen,
      );
      addUploads(projectId, chosen);
      return true;
    },
    question: asked && <AgainDialog {...asked} />,
  };
}

const AgainDialog = ({ files, known, answer }: Question) => (
  <Dialog title="Upload again?" onClose={() => answer(null)}>
    <div class="dialog-body">
      <p>
        {known.length === 1
          ? `This project already has a recording with the same name and size: ${known[0]!.name}.`
          : `This project already has ${formatCount(known.length, "recording")} with the same names and sizes: ${listNames(known)}.`}
      </p>
    </div>
    <div class="dialog-foot">
      <Button onClick={() => answer(files.filter((file) => !known.includes(file)))}>Skip</Button>
      <Button look="primary" onClick={() => answer(files)}>
        Upload again
      </Button>
    </div>
  </Dialog>
);

/** Returns the files with the same name and size as a recording in the project. */
async function findDuplicates(projectId: string, files: File[]): Promise<File[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const query = { project_id: projectId, q: file.name.slice(0, MAX_SEARCH_CHARACTERS), limit: 100 };
      const { items } = await must(api.GET("/api/v1/assets", { params: { query } }));
      return items.some((asset) => asset.filename === file.name && asset.size_bytes === file.size) ? [file] : [];
    }),
  );
  return found.flat();
}
