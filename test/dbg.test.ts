import { test } from "bun:test";
import { harness } from "./http/harness";
import { video, wav } from "./http/media";
import { mkdtempSync, writeFileSync, rmSync, statfsSync } from "node:fs";
test("full", async () => {
  process.env.TMPDIR = "/tmp/small";
  await using s = await harness();
  console.log(s.dataDir);
  const u = await s.user();
  const asset = await u.ready(await video(4));
  const { id } = await u.open(400_000_000);
  const fill = (leave: number) => { const f = statfsSync("/tmp/small"); const n = f.bavail * f.bsize - leave; if (n > 0) writeFileSync("/tmp/small/fill", Buffer.alloc(n)); };
  fill(3_000_000);
  const r = await u.patch(id, 0, new Uint8Array(20_000_000));
  console.log("patch", r.status, r.body, r.headers.get("retry-after"));
  const h = await u.call("HEAD", `/v1/uploads/${id}`, { headers: u.tus() });
  console.log("head", h.status, h.headers.get("upload-offset"), "asset", (await u.asset(id)).state);
  // now really full
  const p = await u.call("POST", "/v1/projects", { json: { name: "x".repeat(200) } });
  console.log("post", p.status, p.body);
  const rr = await u.call("POST", "/v1/renders", { json: { asset_id: asset.id } });
  console.log("render", rr.status, JSON.stringify(rr.body).slice(0, 200));
  console.log("readyz", (await u.call("GET", "/readyz")).body);
  const c = await u.call("POST", "/v1/cuts", { json: { asset_id: asset.id } });
  console.log("cut", c.status, JSON.stringify(c.body).slice(0, 200));
  if (rr.status === 201) { const e = await u.renderEnded((rr.body as any).id); console.log(e.state, e.error_code, e.error_message); }
  rmSync("/tmp/small/fill");
  console.log("freed");
  const p2 = await u.call("POST", "/v1/projects", { json: { name: "y" } });
  console.log("post", p2.status);
  const off = Number((await u.call("HEAD", `/v1/uploads/${id}`, { headers: u.tus() })).headers.get("upload-offset"));
  const r2 = await u.patch(id, off, new Uint8Array(1_000_000));
  console.log("patch", r2.status, r2.headers.get("upload-offset"), off);
  console.log(s.errors.map((e) => e.slice(0, 300)));
}, 60000);
