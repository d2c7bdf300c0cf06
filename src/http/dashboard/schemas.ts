/** The schemas of the resources that only the dashboard family has. */

import { Type } from "@sinclair/typebox";
import { ACCOUNT_ROLES, SECOND_FACTOR_METHODS, WORKSPACE_ROLES } from "../../domain/access";
import { JOB_NAMES } from "../../domain/jobs";
import { CUT_MODE_NAMES } from "../../domain/plan";
import {
  enumeration,
  id,
  integer,
  orNull,
  rational,
  strictObject,
  text,
  time,
  withDescription,
} from "../../domain/schema-parts";
import { STEP_STATES } from "../../domain/states";
import { authorship, PUBLIC_SCHEMAS } from "../public/schemas";
import { CUT_SCHEMAS } from "./cut-schemas";
import { NOTIFICATION_SCHEMAS } from "./notification-schemas";

const profile = strictObject({
  id,
  email: text,
  first_name: orNull(text),
  last_name: orNull(text),
  role: enumeration(ACCOUNT_ROLES),
  email_verified_at: orNull(time, "null if not confirmed yet"),
  has_password: Type.Boolean({ description: "false if you sign in only with a provider" }),
  two_factor_enabled: Type.Boolean({ description: "whether sign-in asks for a second factor" }),
  deleted_at: orNull(time, "set during the grace period of 30 days before the account is deleted"),
  created_at: time,
});

const session = strictObject({
  token: Type.String({ description: "for the header Authorization: Bearer" }),
  expires_at: Type.String({
    format: "date-time",
    description: "30 days after the last use, at most 180 days after sign-in",
  }),
  user: profile,
});

const secondFactor = strictObject({
  two_factor_required: Type.Literal(true),
  challenge: Type.String({ description: "for POST auth/login/two-factor" }),
  methods: Type.Array(enumeration(SECOND_FACTOR_METHODS)),
});

const workspaceMember = strictObject({
  user_id: id,
  email: text,
  name: orNull(text),
  email_verified_at: orNull(time, "null if the address is not confirmed"),
  role: enumeration(WORKSPACE_ROLES),
  created_at: Type.String({ format: "date-time", description: "when the user became a member" }),
});

const inviter = orNull(strictObject({ id, name: orNull(text), email: text }), "null if that account was deleted");

const workspace = {
  id,
  name: text,
  role: enumeration(WORKSPACE_ROLES),
  is_personal: Type.Boolean({ description: "created with the account; has its ID and no other members" }),
};
const partState = enumeration(["ok", "starting", "limited", "unavailable", "off"]);

const share = orNull(
  Type.Number({ minimum: 0, maximum: 1 }),
  "finished share, 0 to 1; null for a step that has not started or did not complete",
);

const step = strictObject({
  id,
  step_order: Type.Integer({ minimum: 0 }),
  processor_name: enumeration(JOB_NAMES),
  state: enumeration(STEP_STATES),
  credits_cost: Type.Integer({ minimum: 0, description: "price of the step, charged when it completes" }),
  input_asset_id: orNull(id),
  input_asset_deleted: Type.Boolean(),
  output_asset_id: orNull(id, "the asset that the step of a list has created: a `cut_file` or a `rendered_video`"),
  output_asset_deleted: Type.Boolean(),
  cut_id: orNull(id, "the cut that the step computes; null until the step starts, and for other processors"),
  render_id: orNull(id, "the render that the step creates; null until the step starts, and for other processors"),
  progress: share,
  error_code: orNull(text, "why the step failed"),
  error_message: orNull(text),
  started_at: orNull(time),
  finished_at: orNull(time),
});

export const DASHBOARD_SCHEMAS = {
  ...NOTIFICATION_SCHEMAS,
  Profile: profile,
  AuthMethods: strictObject({
    is_set_up: Type.Boolean({ description: "whether there is an administrator" }),
    signup: enumeration(["open", "closed"]),
    email: Type.Boolean({ description: "whether the server sends mails" }),
    oidc: Type.Array(strictObject({ name: text, start_url: text })),
  }),
  Session: session,
  SignInResult: Type.Union([session, secondFactor]),
  TwoFactorEnrollment: strictObject({
    secret: orNull(text, "for authenticators that cannot read `otpauth_url`; null in a replayed response"),
    otpauth_url: orNull(text, "for a QR code; null in a replayed response"),
    recovery_codes: orNull(
      Type.Array(text),
      "each one replaces an authenticator code once; null in a replayed response",
    ),
  }),
  TwoFactor: strictObject({
    is_enabled: Type.Boolean({ description: "whether sign-in asks for a second factor" }),
    has_authenticator: Type.Boolean({ description: "if false, codes are sent by email" }),
    can_mail: Type.Boolean({ description: "whether the server sends email and your address is confirmed" }),
    recovery_codes_left: Type.Integer({ minimum: 0, description: "number of unused codes" }),
  }),
  RecoveryCodes: strictObject({
    recovery_codes: Type.Array(text, { description: "each one works once; they are shown only once" }),
  }),
  SessionItem: strictObject({
    id,
    created_at: time,
    last_seen_at: time,
    user_agent: orNull(text),
    address: orNull(text),
    is_current: Type.Boolean({ description: "whether this request uses the session" }),
  }),
  Identity: strictObject({
    id,
    provider: Type.String({ description: "the name of the provider, or its host if it is not configured" }),
    issuer: text,
    email: orNull(text, "the latest address from the provider"),
    created_at: Type.String({ format: "date-time", description: "when it was linked" }),
    last_sign_in_at: orNull(time),
  }),
  Workspace: strictObject(workspace),
  WorkspaceDetail: strictObject({
    ...workspace,
    created_at: time,
    member_count: integer,
    project_count: integer,
    asset_count: integer,
    render_count: integer,
    storage_used_bytes: Type.Integer({ description: "size of sources, derived files and renders" }),
    storage_quota_bytes: orNull(integer, "null if there is no quota"),
    credits_balance: Type.Integer({ description: "available credits, without active holds" }),
    credits_held: integer,
    credits_used: Type.Integer({ description: "charges since the workspace was created, minus refunds" }),
  }),
  WorkspaceInvitation: strictObject({
    id,
    email: text,
    role: enumeration(WORKSPACE_ROLES),
    invited_by: orNull(strictObject({ id, name: orNull(text) }), "null if that account was deleted"),
    created_at: time,
    expires_at: time,
  }),
  ReceivedInvitation: strictObject({
    id,
    workspace: strictObject({ id, name: text }),
    role: enumeration(WORKSPACE_ROLES),
    invited_by: inviter,
    created_at: time,
    expires_at: time,
  }),
  InvitationLink: strictObject({
    email: Type.String({ description: "the invited address" }),
    workspace: orNull(strictObject({ id, name: text }), "null if the invitation is only for an account"),
    role: orNull(enumeration(WORKSPACE_ROLES), "the role in the workspace"),
    invited_by: inviter,
    expires_at: time,
  }),
  SignedUpload: strictObject({
    asset: PUBLIC_SCHEMAS.Asset,
    upload: strictObject({
      url: Type.String({ description: "accepts the file once, without a credential" }),
      method: Type.Literal("PUT"),
      headers: strictObject({ "Content-Type": text }),
      expires_at: time,
    }),
  }),
  PlannedCut: strictObject({
    mode: orNull(enumeration(CUT_MODE_NAMES), "null if the asset is not cut as soon as it can be"),
    script: text,
    error_message: orNull(text, "why the cut could not start; it is tried again every minute"),
  }),
  UploadLimits: strictObject({
    max_bytes: Type.Integer({ minimum: 0, description: "the largest file that is accepted" }),
    free_bytes: Type.Integer({
      minimum: 0,
      description:
        "the space that the disk and the workspace's quota have left. Unfinished uploads count toward the quota in full",
    }),
  }),
  ResumableUpload: strictObject({
    asset: PUBLIC_SCHEMAS.Asset,
    session_id: Type.String({ format: "uuid", description: "the ID in the transfer URL" }),
    expires_at: Type.String({ format: "date-time", description: "7 days after the last byte" }),
  }),
  WorkspaceMember: workspaceMember,
  Pipeline: strictObject({
    id,
    state: enumeration(STEP_STATES),
    total_credits_reserved: Type.Integer({
      minimum: 0,
      description: "credits held when the pipeline last started, plus those consumed before",
    }),
    total_credits_consumed: Type.Integer({ minimum: 0 }),
    input_asset_id: orNull(id),
    input_asset_name: orNull(
      text,
      "the name of the asset, or its file name if it was not renamed; null if it was deleted",
    ),
    input_asset_deleted: Type.Boolean(),
    created_at: time,
    started_at: orNull(time),
    finished_at: orNull(time),
    steps: Type.Array(step),
    created_by: Type.Optional(
      orNull(strictObject({ id, name: orNull(text) }), "the user who started it; null if that account was deleted"),
    ),
  }),
  ...CUT_SCHEMAS,
  Draft: strictObject({
    revision: Type.Integer({ minimum: 1, description: "to send with the next change" }),
    segments: Type.Array(strictObject({ start: Type.Number(), end: Type.Number() })),
    texts: Type.Array(strictObject({ start: Type.Number(), end: Type.Number(), text })),
    updated_by: orNull(strictObject({ id, name: orNull(text) }), "who saved it last; null if that account was deleted"),
    updated_at: time,
  }),
  ShareLink: strictObject({
    url: Type.String({
      description: "downloads the file without a credential; with a password, only after it was entered",
    }),
    page_url: Type.String({ description: "page with a player and the download, which asks for the password" }),
    expires_at: time,
  }),
  RenderShare: strictObject({ id, has_password: Type.Boolean(), created_at: time, expires_at: time, ...authorship }),
  ServerStatus: strictObject({
    status: enumeration(["ok", "degraded"], "`degraded`: a required component is `unavailable`"),
    version: text,
    parts: strictObject({
      uploads: withDescription(partState, "`unavailable`: the disk is almost full"),
      renders: withDescription(
        partState,
        "`starting`: encoders are being tested, which takes a few seconds after startup",
      ),
      speech_recognition: withDescription(partState, "`limited`: an installed model is damaged"),
      email: withDescription(partState, "`off`: the server is not configured to send email"),
    }),
    languages: Type.Array(text, { description: "codes of the recognized languages" }),
  }),
  AssetMedia: strictObject({
    video_type: orNull(
      text,
      'type of pieces of the preview for a SourceBuffer, such as `video/mp4; codecs="avc1.640028"`; null without video, and until they can be read',
    ),
    audio_type: orNull(text, "see `video_type`"),
    duration: orNull(Type.Number({ minimum: 0 }), "seconds"),
    frame_rate: orNull(rational, "frame rate of the source; null without video, and if it varies"),
    is_preview_ready: Type.Boolean(),
    start_timecode: orNull(
      text,
      "timecode of the first frame, `HH:MM:SS:FF`, with `;` before the frames for drop-frame",
    ),
    is_playable: Type.Boolean({ description: "whether pieces can be read: before the transcript is ready, too" }),
    has_waveform: Type.Boolean({ description: "whether the peaks of the audio can be read" }),
    has_storyboard: Type.Boolean({ description: "whether the storyboard can be read" }),
    source: withDescription(
      strictObject({
        video: orNull(
          strictObject({
            type: text,
            width: integer,
            height: integer,
            rotation: withDescription(integer, "clockwise, by the player: 0, 90, 180 or 270"),
            bitrate: orNull(integer, "bits per second"),
            starts: Type.Array(Type.Number(), {
              description: "times of keyframes, in seconds: pieces that start and end there are read without encoding",
            }),
          }),
        ),
        audio: orNull(strictObject({ type: text, channels: integer, sample_rate: integer })),
      }),
      "the tracks of the recording that some browsers can decode, with types for a SourceBuffer: for pieces with `variant=source`",
    ),
    loudness: withDescription(
      strictObject({
        is_ready: Type.Boolean(),
        absent_reason: orNull(text, "why it will not be known; null while it is being measured"),
      }),
      "whether `/loudness` can be read: the preparation measures it; for assets that an older version prepared, the preview does, before everything else",
    ),
    progress: orNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      "the completed fraction of the preview; null unless it is being created",
    ),
    wait: orNull(
      strictObject({
        position: withDescription(Type.Integer({ minimum: 1 }), "place in the queue of previews, 1 for the next one"),
        seconds: withDescription(Type.Integer({ minimum: 0 }), "estimated time until the preview is complete"),
      }),
      "null unless the preview is being created",
    ),
    error_message: orNull(text, "why the preview could not be created; the first call after 10 minutes retries"),
  }),
  Storyboard: strictObject({
    interval: Type.Number({ description: "seconds between two pictures; the first one is at 0" }),
    count: Type.Integer({ minimum: 1, description: "number of pictures on all sheets" }),
    width: Type.Integer({ description: "width of a picture in pixels" }),
    height: integer,
    columns: Type.Integer({ description: "number of pictures in a row of a sheet" }),
    rows: integer,
    sheets: Type.Integer({ minimum: 1 }),
  }),
  TranscriptColumns: strictObject({
    text: Type.Array(text, { description: "the words" }),
    start: Type.Array(integer, { description: "in milliseconds, one per word" }),
    end: Type.Array(integer),
    confidence: Type.Optional(
      Type.Array(integer, { description: "in percent; absent if an older version transcribed the asset" }),
    ),
  }),
  PartialTranscript: strictObject({
    run: Type.Integer({ minimum: 0, description: "another number once recognition has started again" }),
    from: Type.Integer({
      minimum: 0,
      description: "index of the first of these words: as requested, or 0 if the run is another one",
    }),
    text: Type.Array(text, { description: "the words" }),
    start: Type.Array(integer, { description: "in milliseconds, one per word" }),
    end: Type.Array(integer),
  }),
  AddedMember: strictObject({
    member: orNull(workspaceMember, "always null: users become members when they accept"),
    invitation_url: orNull(text, "link to join the workspace, with or without an account; null in a replayed response"),
    expires_at: orNull(time, "when the invitation expires"),
  }),
};
