/** Texts that several of these pages show. */
export const INCOMPLETE_LINK = "The link is incomplete, or this page was loaded again. Open the whole link once more.";
