import { BUCKET } from "../../../../s3-server";

/** Where the tests keep their backups. */
export const PLACE = `s3://${BUCKET}/office`;
