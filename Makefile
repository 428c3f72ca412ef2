# SPDX-License-Identifier: Apache-2.0
#
# The commands of the README.  meson and ninja do the building, in the trees of
# tools/trees; this file installs what is missing and puts the results together:
# build/bin/holdback and build/libexec/holdback/* run in place.

B ?= build
PREFIX ?= /usr/local
DESTDIR ?=

MAN = $(patsubst docs/man/%.scd,$B/man/%,$(wildcard docs/man/*.scd))
C_FILES = $(shell find src include tests tools bench -name '*.[ch]')

.PHONY: all executables man demo test bench soak noise matrix mutate fuzz install deb \
	uninstall format clean deps-build
.SILENT:

all: executables man

deps-build:
	tools/ensure-deps build

executables: deps-build
	tools/build $B main musl
	tools/assemble $B

man: $(MAN)

$B/man/%: docs/man/%.scd $(wildcard docs/man/common/*.scd) tools/man \
		include/holdback/holdback.h | deps-build
	mkdir -p $(@D)
	tools/man $< >$@.new
	scdoc <$@.new >$@.newer
	mv $@.newer $@
	rm $@.new

demo: all
	tools/demo $B

test: all
	tools/ensure-deps clang test
	tools/build $B test clang
	tests/run --build $B

# With REPO: how often the gate would ask in the history of that repository.
ifdef REPO
soak: all
	tools/noise --build $B "$(REPO)"
else
soak: all
	tools/ensure-deps clang test
	tools/build $B test clang
	HB_SOAK=1 tests/run --build $B --timeout 3600
	HB_SOAK=1 HB_AGENTS_NEWEST=1 tests/run --build $B --mode user --filter 'agents/*' \
		--timeout 900
endif

# How often the gate asks: in the history of this project, and in the published
# versions of some packages, which npm fetches.  A tenth is too often.
noise: all
	tools/noise --build $B --most 10 .
	tools/noise --build $B --most 10 --last 20 \
		$(addprefix npm:,$(shell cat tools/noise.packages))

# Other kernels, in an emulated machine: as root, and slow.
matrix: all
	tools/ensure-deps matrix test
	tools/build $B test
	tools/matrix $B

bench: all
	tools/ensure-deps bench
	bench/run $B

mutate: all
	tools/ensure-deps test
	tools/mutate

fuzz:
	tools/ensure-deps build clang
	tools/fuzz $B

install: all
	tools/install $B "$(DESTDIR)$(PREFIX)" "$(PREFIX)"

deb: all
	tools/ensure-deps deb
	tools/deb $B $B/deb

uninstall: man
	tools/uninstall $B "$(DESTDIR)$(PREFIX)"

format:
	tools/ensure-deps format
	clang-format -i $(C_FILES)

clean:
	rm -rf $B
