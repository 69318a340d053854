# unswayed in a container: docker build -t unswayed . && docker run --rm -v "$PWD:/work" unswayed demo -o demo
# EXTRAS adds optional dependencies: docker build --build-arg EXTRAS=lang,hf,metrics -t unswayed .
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.13-slim
ARG EXTRAS=lang
COPY constraints.txt /tmp/
COPY --from=build /dist /tmp/dist
RUN wheel="$(ls /tmp/dist/*.whl)" \
    && python -m pip install --no-cache-dir --constraint /tmp/constraints.txt "$wheel[$EXTRAS]" \
    && rm -rf /tmp/dist /tmp/constraints.txt \
    && useradd --create-home --uid 1000 unswayed \
    && mkdir /work && chown unswayed /work
USER unswayed
WORKDIR /work
ENTRYPOINT ["unswayed"]
CMD ["--help"]
