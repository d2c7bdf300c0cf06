/** Strict schemas of the dashboard family's responses for a new upload, written independently of the server's. */
import { Type } from "@sinclair/typebox";
import { exactly, oneOf, orNull, text, time, url, uuid } from "./schema-parts";

const newAsset = exactly({
  id: uuid,
  project_id: uuid,
  kind: oneOf("source", "rendered_video", "cut_file"),
  type: Type.Null(),
  state: oneOf("pending_upload"),
  extension: Type.Null(),
  size_bytes: Type.Null(),
  content_type: Type.Null(),
  duration_seconds: Type.Null(),
  language: orNull(Type.String({ pattern: "^[a-z]{2}$" })),
  external_id: orNull(text),
  name: orNull(text),
  tags: Type.Array(text),
  note: orNull(text),
  error_code: Type.Null(),
  error_message: Type.Null(),
  created_at: time,
  upload_url: orNull(url),
  created_by: exactly({ id: uuid, name: orNull(text) }),
});

export const signedUpload = exactly({
  asset: newAsset,
  upload: exactly({ url, method: oneOf("PUT"), headers: exactly({ "Content-Type": text }), expires_at: time }),
});

export const resumableUpload = exactly({ asset: newAsset, session_id: uuid, expires_at: time });
