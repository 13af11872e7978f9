/** One profile. */
import type { ProfileAnswer } from "../../../../core/model/sessions/session-wire.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { DownloadButton } from "../parts/download.tsx";
import { FormButton } from "../parts/form.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage } from "../parts/object-page.tsx";
import { plainText } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { nameRule } from "../service/words.ts";

const ProfileView = ({ profile, again }: { profile: ProfileAnswer; again: () => void }) => {
  const path = `/profiles/${inPath(profile.id)}`;
  const name = profile.name ?? profile.id;
  const isAllowed = may("pools:write");
  return (
    <>
      <ObjectHead name={name}>
        {isAllowed && (
          <FormButton
            word="Rename"
            form={{
              title: `Rename ${plainText(name)}`,
              intro: "Refused while a pool names the profile by its present name.",
              fields: [{ name: "name", label: "Name", hint: nameRule, isRequired: true, initial: profile.name ?? "" }],
              action: "Rename",
              async send(given) {
                await call("PATCH", path, { body: { name: given.name } });
                again();
                return { said: "The profile has its new name." };
              },
            }}
          />
        )}
        {may("profiles:use") && (
          <DownloadButton path={`${path}/download?format=tar.zst`} name={`${plainText(name)}.tar.zst`} />
        )}
        <AsCodeButton
          of={{
            title: `${plainText(name)} as code`,
            yaml: manifestOf("Profile", profile, { name: profile.name ?? undefined }),
            curl: { method: "POST", path: "/profiles", body: { name } },
            sdk: `profiles.create({ name: ${JSON.stringify(name)} })`,
          }}
        />
        {isAllowed && (
          <DeleteButton
            {...{ name, what: "profile", path, next: to(["profiles"]) }}
            text="What browsers have saved into it is deleted for good. Refused while a pool or a browser uses it."
          />
        )}
      </ObjectHead>
      <Facts
        of={{
          Id: <span class="mono">{profile.id}</span>,
          "Last used": <Time at={profile.last_used_at} />,
          "Name or contents changed": <Time at={profile.updated_at} />,
          Made: <Time at={profile.created_at} />,
        }}
      />
      <p class="muted">
        Browsers start with it by <code>profile</code>; one with <code>save_changes</code> saves into it at its end.
      </p>
    </>
  );
};

/** The profile with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<ProfileAnswer>
    what="Profile"
    path={`/profiles/${inPath(id)}`}
    kind="profile"
    all={{ title: "All profiles", address: to(["profiles"]) }}
  >
    {(profile, again) => <ProfileView profile={profile} again={again} />}
  </ObjectPage>
);
