import { z } from "zod";

/** A profile as answers show it, alone or with a session. */
export const ProfileRecord = z.object({
  id: z.string().describe("The profile's id."),
  name: z.string().nullable().describe("The profile's name; null when it has none."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe("When its name or its contents last changed."),
  last_used_at: z.iso.datetime().optional().describe("When a browser last started with it. Left out: never."),
});
export type ProfileRecord = z.infer<typeof ProfileRecord>;
