import { Anchor, Button, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { Empty } from "@/parts/Empty";
import { Page } from "@/parts/Page";
import { When } from "@/parts/When";
import { count } from "@/parts/words";
import { sayRecipe } from "./recipes/say";

export default function Recipes() {
  const { may } = useSession();
  const q = useQuery({
    queryKey: ["recipes"],
    queryFn: () => got(api.GET("/v1/recipes", { params: { query: { limit: 200 } }, headers: background })),
    refetchInterval: 10_000,
  });
  return (
    <Page
      title="Recipes"
      about="One correction for a whole group of records. What a recipe sets is sealed, and removed when it is done."
      actions={
        may("record.correct") && (
          <Button component={Link} href="/recipes/new">
            New recipe
          </Button>
        )
      }
    >
      <Await query={q}>
        {(all) =>
          all.recipes.length === 0 ? (
            <Empty title="No group has been corrected yet">Correct one claim of a cause; its editor then offers the same for the others.</Empty>
          ) : (
            <Table.ScrollContainer minWidth={640}>
              <Table aria-label="Recipes" highlightOnHover>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Recipe</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th ta="right">Corrected</Table.Th>
                    <Table.Th ta="right">Of records</Table.Th>
                    <Table.Th>By</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.recipes.map((r) => (
                    <Table.Tr key={r.id}>
                      <Table.Td>
                        <Anchor component={Link} href={`/recipes/${r.id}`} size="sm">
                          {sayRecipe(r)}
                        </Anchor>
                        <Text size="xs" c="dimmed">
                          <When t={r.at} />
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <StateBadge state={r.state} />
                      </Table.Td>
                      <Table.Td ta="right" className="figure">
                        {count(r.outcomes["applied"] ?? 0)}
                      </Table.Td>
                      <Table.Td ta="right" className="figure">
                        {count(r.items)}
                      </Table.Td>
                      <Table.Td>{r.author}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Await>
    </Page>
  );
}
