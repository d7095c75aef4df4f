// Shows /openapi.json as a page: each operation, what it takes and what it answers.
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

function element(name, ...contents) {
  const made = document.createElement(name);
  made.append(...contents);
  return made;
}

/** The document's schema behind a reference, as indented JSON. */
function schemaText(schema, schemas) {
  const name = schema.$ref?.split('/').at(-1);
  return JSON.stringify(name === undefined ? schema : schemas[name], null, 2);
}

function bodySection(title, content, schemas) {
  const [schema] = Object.values(content).map((entry) => entry.schema);
  const types = Object.keys(content).join(', ');
  return element('details', element('summary', `${title}: ${types}`), element('pre', schemaText(schema, schemas)));
}

function operationSection(path, method, operation, schemas) {
  const section = element('section', element('h2', `${method.toUpperCase()} ${path}`), element('p', operation.summary));
  if (operation.description !== undefined) section.append(element('p', operation.description));
  for (const { name, in: place, schema } of operation.parameters ?? [])
    section.append(element('p', `${name} (${place}): ${JSON.stringify(schema)}`));
  if (operation.requestBody !== undefined) section.append(bodySection('Body', operation.requestBody.content, schemas));
  for (const [status, { description, content }] of Object.entries(operation.responses)) {
    section.append(
      content === undefined ? element('p', `${status}: ${description}`) : bodySection(`${status}: ${description}`, content, schemas),
    );
  }
  return section;
}

try {
  const { paths, components } = await (await fetch('/openapi.json')).json();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((name) => item[name] !== undefined)) {
      document.querySelector('#operations').append(operationSection(path, method, item[method], components.schemas));
    }
  }
} catch (error) {
  document.querySelector('#status').textContent = error.message;
}
