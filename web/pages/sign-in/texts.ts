/** Texts that several sign-in pages share. */
export const INCOMPLETE_LINK = "The link is incomplete, or this page was loaded again. Open the whole link once more.";
