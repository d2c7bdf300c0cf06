import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMediaLocation } from "../../../../src/domain/timeline/media-location";

test("folders of every operating system, and folder URLs", () => {
  for (const [root, url, path] of [
    [null, "my%20talk%20%26%20co.mp4", "my talk & co.mp4"],
    ["", "my%20talk%20%26%20co.mp4", "my talk & co.mp4"],
    ["/Volumes/Media/", "file:///Volumes/Media/my%20talk%20%26%20co.mp4", "/Volumes/Media/my talk & co.mp4"],
    ["/", "file:///my%20talk%20%26%20co.mp4", "/my talk & co.mp4"],
    ["/100% #1", "file:///100%25%20%231/my%20talk%20%26%20co.mp4", "/100% #1/my talk & co.mp4"],
    ["C:\\Foot age\\", "file:///C:/Foot%20age/my%20talk%20%26%20co.mp4", "C:/Foot age/my talk & co.mp4"],
    ["d:/x", "file:///d:/x/my%20talk%20%26%20co.mp4", "d:/x/my talk & co.mp4"],
    ["\\\\nas\\share", "file://nas/share/my%20talk%20%26%20co.mp4", "//nas/share/my talk & co.mp4"],
    ["file:///a%20b/c", "file:///a%20b/c/my%20talk%20%26%20co.mp4", "/a b/c/my talk & co.mp4"],
    ["file://localhost/a/", "file:///a/my%20talk%20%26%20co.mp4", "/a/my talk & co.mp4"],
    ["file:///C:/x", "file:///C:/x/my%20talk%20%26%20co.mp4", "C:/x/my talk & co.mp4"],
    ["file://nas/share", "file://nas/share/my%20talk%20%26%20co.mp4", "//nas/share/my talk & co.mp4"],
    ["footage/day 1", "footage/day%201/my%20talk%20%26%20co.mp4", "footage/day 1/my talk & co.mp4"],
  ] as const)
    expect(createMediaLocation(root, "my talk & co.mp4")).toEqual({ url, path });
});

test("any name becomes one segment of a valid URL and can be decoded", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("/"));
  fc.assert(
    fc.property(name, (file) => {
      const { url } = createMediaLocation("/media", file);
      expect(url).toMatch(/^file:\/\/\/media\/[A-Za-z0-9\-._~%]+$/);
      expect(decodeURIComponent(url.slice("file:///media/".length))).toBe(file.toWellFormed());
    }),
  );
});
