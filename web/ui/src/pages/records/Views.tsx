import { ActionIcon, Button, Group, Modal, Stack, Table, Text, TextInput } from "@mantine/core";
import { IconBookmark, IconTrash } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { choice, Popup } from "@/parts/Popup";
import { builtIn, isViews, useKept, type View } from "./views";

/** Filters under a name: some that everybody has, and one's own, kept in this browser. */
export function Views({ query }: { query: string }) {
  const [, go] = useLocation();
  const [mine, keep] = useKept<View[]>("claimdlq.views", [], isViews);
  const [dialog, setDialog] = useState<"save" | "edit" | null>(null);
  const here = [...builtIn, ...mine].find((v) => v.query === query);
  const open = (v: View) => go(`/records?${v.query}`);
  return (
    <>
      <Popup
        label="Views"
        button={
          <Button size="xs" variant="default" leftSection={<IconBookmark size={14} aria-hidden />}>
            {here ? here.name : "Views"}
          </Button>
        }
      >
        {[...builtIn, ...mine].map((v) => (
          <button key={v.name} {...choice} onClick={() => open(v)}>
            {v.name}
          </button>
        ))}
        <hr />
        <button {...choice} onClick={() => setDialog("save")} disabled={query === "" || !!here}>
          Save this view …
        </button>
        {mine.length > 0 && (
          <button {...choice} onClick={() => setDialog("edit")}>
            Rename or delete …
          </button>
        )}
      </Popup>
      {dialog === "save" && (
        <Save
          taken={[...builtIn, ...mine].map((v) => v.name)}
          onClose={() => setDialog(null)}
          onSave={(name) => {
            keep([...mine, { name, query }]);
            setDialog(null);
          }}
        />
      )}
      {dialog === "edit" && <Edit views={mine} onChange={keep} onClose={() => setDialog(null)} />}
    </>
  );
}

function Save({ taken, onSave, onClose }: { taken: string[]; onSave: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const is = taken.includes(name.trim());
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (name.trim() && !is) onSave(name.trim());
  };
  return (
    <Modal opened onClose={onClose} title="Save this view">
      <form onSubmit={submit}>
        <Stack>
          <TextInput label="Name" description="Kept in this browser only. It must name no patient." value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={60} data-autofocus required error={is ? "There is one of that name" : undefined} />
          <Group justify="flex-end">
            <Button type="submit" disabled={name.trim() === "" || is}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Edit({ views, onChange, onClose }: { views: View[]; onChange: (v: View[]) => void; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="My views">
      {views.length === 0 ? (
        <Text size="sm">There are none left.</Text>
      ) : (
        <Table aria-label="My views">
          <Table.Tbody>
            {views.map((v, i) => (
              <Table.Tr key={v.query}>
                <Table.Td>
                  <TextInput
                    aria-label={`Name of ${v.name}`}
                    defaultValue={v.name}
                    maxLength={60}
                    onBlur={(e) => {
                      const name = e.currentTarget.value.trim();
                      if (name && !views.some((x, j) => j !== i && x.name === name)) onChange(views.map((x, j) => (j === i ? { ...x, name } : x)));
                      else e.currentTarget.value = v.name;
                    }}
                  />
                </Table.Td>
                <Table.Td w={40}>
                  <ActionIcon variant="subtle" color="red" aria-label={`Delete ${v.name}`} onClick={() => onChange(views.filter((_, j) => j !== i))}>
                    <IconTrash size={18} />
                  </ActionIcon>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Modal>
  );
}
