import { BUCKET } from "../../../../s3-server";

/** URL of the tests' backups. */
export const PLACE = `s3://${BUCKET}/office`;
