/* assimp FBX >JSON: what assimp reads of the animation; "|nodes" are the names of all nodes. */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/scene.h>
#include <stdio.h>

static void vectors(const char *name, const struct aiVectorKey *keys, unsigned count, double rate,
                    const char *end)
{
    printf("\"%s\": [", name);
    for (unsigned i = 0; i < count; i++)
        printf("%s[%.9g, %.9g, %.9g, %.9g]", i ? ", " : "", keys[i].mTime / rate, (double)keys[i].mValue.x,
               (double)keys[i].mValue.y, (double)keys[i].mValue.z);
    printf("]%s", end);
}

static void name(const char *before, const char *text)
{
    printf("%s\"", before);
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\": {");
}

static void node_names(const struct aiNode *node, const char *before)
{
    printf("%s\"", before);
    for (const char *text = node->mName.data; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"");
    for (unsigned i = 0; i < node->mNumChildren; i++)
        node_names(node->mChildren[i], ", ");
}

int main(int argc, char **argv)
{
    struct aiPropertyStore *options = aiCreatePropertyStore();
    aiSetImportPropertyInteger(options, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    const struct aiScene *scene = argc == 2 ? aiImportFileExWithProperties(argv[1], 0, NULL, options) : NULL;
    aiReleasePropertyStore(options);
    if (!scene) {
        fprintf(stderr, "assimp: %s\n", aiGetErrorString());
        return 1;
    }
    printf("{\"|nodes\": [");
    node_names(scene->mRootNode, "");
    printf("]");
    for (unsigned i = 0; i < scene->mNumAnimations; i++) {
        const struct aiAnimation *take = scene->mAnimations[i];
        double rate = take->mTicksPerSecond;
        name(", ", take->mName.data);
        for (unsigned c = 0; c < take->mNumChannels; c++) {
            const struct aiNodeAnim *node = take->mChannels[c];
            name(c ? ", " : "", node->mNodeName.data);
            vectors("T", node->mPositionKeys, node->mNumPositionKeys, rate, ", ");
            vectors("S", node->mScalingKeys, node->mNumScalingKeys, rate, ", ");
            printf("\"R\": [");
            for (unsigned k = 0; k < node->mNumRotationKeys; k++) {
                struct aiQuaternion q = node->mRotationKeys[k].mValue;
                printf("%s[%.9g, %.9g, %.9g, %.9g, %.9g]", k ? ", " : "", node->mRotationKeys[k].mTime / rate,
                       (double)q.w, (double)q.x, (double)q.y, (double)q.z);
            }
            printf("]}");
        }
        printf("}");
    }
    printf("}\n");
    aiReleaseImport(scene);
    return 0;
}
