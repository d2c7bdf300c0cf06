/** The cut that a file is made of. Files are made of what is stored, so unsaved edits become a cut of their own first. */
import { ApiError } from "../../../app/api";

export type EditedCut = {
  /** The open cut; null if there is none, or it is not completed. */
  cutId: string | null;
  isEdited: boolean;
  /** Saves the edits as a cut, opens it and returns its ID; null if that failed. */
  save(): Promise<string | null>;
};

/** Returns the ID of the cut with all edits. Throws `ApiError`. */
export async function requireSaved({ cutId, isEdited, save }: EditedCut): Promise<string> {
  const saved = isEdited ? await save() : cutId;
  if (saved === null) throw new ApiError("The edits could not be saved, so no file was created.", "unsaved", 0);
  return saved;
}
