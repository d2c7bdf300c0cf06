/** The files embedded in the executable. The build replaces this module; when run from the sources, it is empty. */
import type { EmbeddedFiles } from "./embedded-extraction";

export const embeddedFiles: EmbeddedFiles | null = null;
