/** Uploads recordings to a project. Asks before a file is uploaded again. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { MAX_SEARCH_CHARACTERS } from "../../src/domain/field-limits";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { insist } from "../tray/batches";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { listNames } from "./messages";
import { addUploads } from "./queue";
import { dropScripts } from "./scripts";
import type { FileCheck } from "./take-recordings";

/** `known`: files that the project may already contain. `answer` receives the files to upload; null cancels. */
type Question = { files: File[]; known: File[]; answer(chosen: File[] | null): void };

type AddUploads = {
  /**
   * Ends the check of the files and returns the uploaded ones; null if the user closes the question. Throws `ApiError`,
   * or the signal's reason: then nothing is uploaded.
   */
  add(projectId: string, files: File[], check: FileCheck): Promise<File[] | null>;
  /** The dialog to render while a question is open: the oldest one. */
  question: ComponentChildren;
};

export function useAddUploads(): AddUploads {
  // Other files may be added while a question is open.
  const [asked, setAsked] = useState<readonly Question[]>([]);
  const ask = (files: File[], known: File[]) =>
    new Promise<File[] | null>((resolve) => {
      const answer = (chosen: File[] | null) => {
        setAsked((all) => all.filter((one) => one !== question));
        resolve(chosen);
      };
      const question = { files, known, answer };
      setAsked((all) => [...all, question]);
    });
  return {
    add: async (projectId, files, check) => {
      const known = await findDuplicates(projectId, files, check);
      check.signal.throwIfAborted();
      check.end();
      const chosen = known.length === 0 ? files : await ask(files, known);
      if (chosen === null) return null;
      dropScripts(
        files.filter((file) => !chosen.includes(file)),
        chosen,
      );
      addUploads(projectId, chosen, check);
      return chosen;
    },
    question: asked[0] && <AgainDialog key={asked[0]} {...asked[0]} />,
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

/** Maximum number of files that are searched by name. For more, all recordings of the project are listed. */
const MAX_SEARCHES = 5;

/** Returns the files with the same name and size as a recording in the project. */
async function findDuplicates(projectId: string, files: File[], { headers, signal }: FileCheck): Promise<File[]> {
  const list = (query: { q?: string; cursor?: string }) => {
    const params = { query: { ...query, project_id: projectId, limit: 100 } };
    return insist(() => must(api.GET("/api/v1/assets", { params, headers, signal })), signal);
  };
  const listAll = async () => {
    const pages = [await list({})];
    for (let cursor = pages[0]!.next_cursor; cursor !== null; cursor = pages.at(-1)!.next_cursor)
      pages.push(await list({ cursor }));
    return pages;
  };
  const search = () => Promise.all(files.map(({ name }) => list({ q: name.slice(0, MAX_SEARCH_CHARACTERS) })));
  const pages = await (files.length > MAX_SEARCHES ? listAll() : search());
  const known = new Set(pages.flatMap(({ items }) => items.map((asset) => `${asset.size_bytes} ${asset.filename}`)));
  return files.filter(({ name, size }) => known.has(`${size} ${name}`));
}
