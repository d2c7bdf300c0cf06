/** Limits of fields that people fill in, for the API and for the forms of the dashboard. Pure. */

/** Maximum length of the text for which lists are searched. */
export const MAX_SEARCH_CHARACTERS = 256;

/** Maximum length of the name of a project or workspace. */
export const MAX_NAME_CHARACTERS = 256;
export const MAX_PERSON_NAME_CHARACTERS = 120;
export const MAX_KEY_NAME_CHARACTERS = 200;
export const MAX_EMAIL_CHARACTERS = 254;
export const MIN_PASSWORD_CHARACTERS = 10;
export const MAX_PASSWORD_CHARACTERS = 200;
/** Limits of an asset's name, note and tags. */
export const MAX_ASSET_NAME_CHARACTERS = 255;
export const MAX_ASSET_NOTE_CHARACTERS = 2_000;
export const MAX_TAGS = 20;
export const MAX_TAG_CHARACTERS = 40;
export const MAX_CUT_NAME_CHARACTERS = 120;
export const MAX_CUT_NOTE_CHARACTERS = 2_000;
export const MAX_NOTE_CHARACTERS = 500;
/**
 * Maximum number of credits in one change: far above any studio's use, and far below the range in which sums lose
 * precision.
 */
export const MAX_CREDITS = 1_000_000_000;
/** Maximum length of the URL of a webhook endpoint. */
export const MAX_URL_CHARACTERS = 2048;

export const MIN_SHARE_PASSWORD_CHARACTERS = 8;
export const MAX_SHARE_PASSWORD_CHARACTERS = 200;

/** Maximum length of the folder of the source that timelines name. */
export const MAX_MEDIA_ROOT_CHARACTERS = 4096;

/** Maximum number of file problems that one request resolves. */
export const MAX_RESOLVED_FINDINGS = 100;
export const MAX_FILE_NAME_CHARACTERS = 200;
